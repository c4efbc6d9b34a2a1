import { basename } from 'node:path';
import {
  nameInPackageJson,
  parseBunLock,
  parseNpmLock,
  parsePackageJson,
  parsePnpmLock,
  parseYarnLock,
} from './javascript.ts';
import { nameInCargoToml, nameInGoMod, parseCargoLock, parseCargoToml, parseGoMod, parseGoSum } from './native.ts';
import {
  nameInPyproject,
  parsePipfile,
  parsePipfileLock,
  parsePyproject,
  parseRequirements,
  parseTomlLock,
} from './python.ts';
import { parseSetupCfg, parseSetupPy } from './setuptools-dependencies.ts';

/** What says which foreign code a project uses, and how each such file is read. */
export interface DependencyFile {
  readonly ecosystem: 'npm' | 'python' | 'cargo' | 'go';
  /** The names of what it asks for or holds. Throws where the text is not such a file. */
  readonly read: (text: string) => Set<string>;
  /** What the package that it describes is called: its neighbours in the repository may ask for it. */
  readonly nameIn?: (text: string) => string | undefined;
}

/** The kind of a file, by its name; undefined for all that have nothing to do with dependencies. */
export function findDependencyFile(path: string): DependencyFile | undefined {
  // What lies inside an installed package is that package's own business.
  if (/(?:^|\/)(?:node_modules|vendor|\.venv|target)\//.test(path)) return undefined;
  const name = basename(path);
  return BY_NAME.get(name) ?? (isRequirements(name, path) ? REQUIREMENTS : undefined);
}

const REQUIREMENTS: DependencyFile = { ecosystem: 'python', read: parseRequirements };

/** requirements.txt, requirements-dev.txt, dev-requirements.in, requirements/test.txt. */
function isRequirements(name: string, path: string): boolean {
  return (
    /^[\w.-]*requirements[\w.-]*\.(?:txt|in)$/.test(name) || /(?:^|\/)requirements\/[\w.-]+\.(?:txt|in)$/.test(path)
  );
}

const OWN_NAMES: Readonly<Record<string, DependencyFile['nameIn']>> = {
  'package.json': nameInPackageJson,
  'pyproject.toml': nameInPyproject,
  'Cargo.toml': nameInCargoToml,
  'go.mod': nameInGoMod,
};

const BY_NAME: ReadonlyMap<string, DependencyFile> = new Map([
  ...files('npm', {
    'package.json': parsePackageJson,
    'package-lock.json': parseNpmLock,
    'npm-shrinkwrap.json': parseNpmLock,
    'pnpm-lock.yaml': parsePnpmLock,
    'yarn.lock': parseYarnLock,
    'bun.lock': parseBunLock,
    'bun.lockb': readNothing,
  }),
  ...files('python', {
    'pyproject.toml': parsePyproject,
    'uv.lock': parseTomlLock,
    'poetry.lock': parseTomlLock,
    'pdm.lock': parseTomlLock,
    'pylock.toml': parseTomlLock,
    'setup.cfg': parseSetupCfg,
    'setup.py': parseSetupPy,
    Pipfile: parsePipfile,
    'Pipfile.lock': parsePipfileLock,
  }),
  ...files('cargo', { 'Cargo.toml': parseCargoToml, 'Cargo.lock': parseCargoLock }),
  ...files('go', { 'go.mod': parseGoMod, 'go.sum': parseGoSum }),
]);

function files(
  ecosystem: DependencyFile['ecosystem'],
  readers: Readonly<Record<string, DependencyFile['read']>>,
): [string, DependencyFile][] {
  return Object.entries(readers).map(([name, read]) => {
    const nameIn = OWN_NAMES[name];
    return [name, nameIn === undefined ? { ecosystem, read } : { ecosystem, read, nameIn }];
  });
}

/** Binary: only bun itself can read it. */
function readNothing(): never {
  throw new TypeError('it is binary; a bun.lock can be read');
}
