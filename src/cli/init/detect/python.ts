import { parse } from 'smol-toml';
import { type Fields, fieldsOf } from '../../../protocol/shape/read-unknown.ts';
import { commandsOf, firstOf, hasMatch, type Listing, type Toolchain } from './toolchain.ts';

const MANIFESTS = ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'Pipfile', 'tox.ini', 'pytest.ini'];

/** For Python in the root: pytest or unittest, run by uv, Poetry, PDM, Pipenv, tox, or in its own venv. */
export function detectPython(files: Listing): Toolchain | undefined {
  const from = firstOf(files, ...MANIFESTS);
  if (from === undefined) return undefined;
  const project = readProject(files);
  const tests = findTests(files, project);
  const lints = firstOf(files, 'ruff.toml', '.ruff.toml') !== undefined || /\bruff\b/.test(project.text);
  const manager = MANAGERS.find(({ lock, tool }) => files.paths.has(lock) || tool in project.tools);
  const shared = { id: 'python', from } as const;
  if (manager !== undefined)
    return {
      ...shared,
      // By default, Poetry and Pipenv keep the environment elsewhere.
      ...(manager.name === 'uv' ? { fills: '.venv' } : {}),
      title: `Python (${manager.name})`,
      commands: commandsOf({
        install: `${manager.install}${project.hasExtras ? manager.extras : ''}`,
        lint: lints ? `${manager.run} ruff check .` : undefined,
        test:
          tests === undefined ? undefined : `${manager.run} ${tests === 'pytest' ? 'pytest' : `python -m ${tests}`}`,
      }),
    };
  if (files.paths.has('tox.ini') || 'tox' in project.tools)
    return { ...shared, title: 'Python (tox)', commands: { test: 'tox' }, online: ['test'] };
  return { ...shared, ...plainCommands(files, project, tests, lints) };
}

interface Project {
  readonly tools: Fields;
  /** All texts that may name a package. */
  readonly text: string;
  readonly requirements: readonly string[];
  /** Extras that contain the test packages. */
  readonly extras: readonly string[];
  readonly hasExtras: boolean;
  /** Whether the project itself can be installed. */
  readonly isPackage: boolean;
  readonly hasPackages: boolean;
}

function readProject(files: Listing): Project {
  const pyproject = fieldsInToml(files.read('pyproject.toml'));
  const project = fieldsOf(pyproject['project']);
  const extras = Object.keys(fieldsOf(project['optional-dependencies']));
  const requirements = REQUIREMENTS.filter((path) => files.paths.has(path));
  const listed = Array.isArray(project['dependencies']) ? project['dependencies'] : [];
  return {
    tools: fieldsOf(pyproject['tool']),
    text: ['pyproject.toml', 'setup.py', 'setup.cfg', 'Pipfile', ...requirements].map(files.read).join('\n'),
    requirements,
    extras: extras.filter((name) => /^(?:dev|tests?|testing)$/.test(name)),
    hasExtras: extras.length > 0,
    isPackage: 'project' in pyproject || 'build-system' in pyproject || files.paths.has('setup.py'),
    hasPackages: listed.length > 0 || requirements.length > 0 || files.paths.has('setup.py') || extras.length > 0,
  };
}

const REQUIREMENTS = [
  'requirements.txt',
  'requirements-dev.txt',
  'requirements-test.txt',
  'dev-requirements.txt',
  'test-requirements.txt',
  'requirements/dev.txt',
  'requirements/test.txt',
];

function fieldsInToml(text: string): Fields {
  try {
    return fieldsOf(parse(text));
  } catch {
    return {};
  }
}

/** The module that runs the tests, with its arguments. */
function findTests(files: Listing, { text }: Project): string | undefined {
  const isPytest = firstOf(files, 'pytest.ini', 'conftest.py', 'tests/conftest.py', 'test/conftest.py') !== undefined;
  if (isPytest || /\bpytest\b/.test(text + files.read('tox.ini'))) return 'pytest';
  if (hasMatch(files, /^tests\/(?:.*\/)?test[^/]*\.py$/)) return 'unittest discover -s tests';
  return hasMatch(files, /^(?:[^/]+\/)?test[^/]*\.py$/) ? 'unittest discover' : undefined;
}

const MANAGERS = [
  { name: 'uv', lock: 'uv.lock', tool: 'uv', install: 'uv sync', extras: ' --all-extras', run: 'uv run' },
  {
    name: 'Poetry',
    lock: 'poetry.lock',
    tool: 'poetry',
    install: 'poetry install --no-interaction',
    extras: ' --all-extras',
    run: 'poetry run',
  },
  { name: 'PDM', lock: 'pdm.lock', tool: 'pdm', install: 'pdm install', extras: '', run: 'pdm run' },
  { name: 'Pipenv', lock: 'Pipfile', tool: '', install: 'pipenv sync --dev', extras: '', run: 'pipenv run' },
] as const;

/** Commands without a package manager. If there are no packages, they use the machine's Python. */
function plainCommands(
  files: Listing,
  { text, requirements, extras, isPackage, hasPackages }: Project,
  tests: string | undefined,
  lints: boolean,
): Pick<Toolchain, 'title' | 'commands' | 'fills'> {
  const needsVenv = hasPackages || tests === 'pytest' || lints || hasMatch(files, /^src\/[^/]+\/__init__\.py$/);
  const own = isPackage ? [extras.length === 0 ? '-e .' : `-e '.[${extras.join(',')}]'`] : [];
  const missing = (name: string, isUsed: boolean): readonly string[] =>
    isUsed && !new RegExp(`\\b${name}\\b(?!\\.)`).test(namesIn(text)) ? [name] : [];
  const packages = [
    ...requirements.map((path) => `-r ${path}`),
    ...own,
    ...missing('pytest', tests === 'pytest'),
    ...missing('ruff', lints),
  ];
  const isInstalled = needsVenv && packages.length > 0;
  const python = isInstalled ? '.venv/bin/python' : 'python3';
  const install = `python3 -m venv .venv && .venv/bin/python -m pip install --quiet ${packages.join(' ')}`;
  return {
    title: 'Python',
    commands: commandsOf({
      install: isInstalled ? install : undefined,
      lint: lints ? `${python} -m ruff check .` : undefined,
      test: tests === undefined ? undefined : `${python} -m ${tests}`,
    }),
    ...(isInstalled ? { fills: '.venv' } : {}),
  };
}

/** Drops tables that only configure a tool: `[tool.ruff]` does not install it. */
function namesIn(text: string): string {
  return text.replaceAll(/^\[tool\..*$/gm, '');
}
