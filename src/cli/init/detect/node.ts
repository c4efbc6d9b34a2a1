import { type Fields, fieldsInJson, fieldsOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import { commandsOf, firstOf, type Listing, type Toolchain } from './toolchain.ts';

/** For a package.json in the root: its scripts, run by the lock file's package manager. */
export function detectNode(files: Listing): Toolchain | undefined {
  if (!files.paths.has('package.json')) return undefined;
  const manifest = fieldsInJson(files.read('package.json'));
  const manager = findManager(files, manifest);
  const scripts = fieldsOf(manifest['scripts']);
  const script = (...names: readonly string[]): string | undefined => {
    const name = names.find((each) => isScript(scripts[each]));
    if (name === undefined) return undefined;
    return name === 'test' ? manager.test : `${manager.run} ${name}`;
  };
  return {
    id: 'node',
    title: `Node (${manager.name})`,
    from: 'package.json',
    commands: commandsOf({
      install: hasPackages(manifest) ? manager.install : undefined,
      build: script('build'),
      lint: script('lint'),
      types: script('typecheck', 'type-check', 'check-types', 'types'),
      test: script('test'),
    }),
    ...(hasPackages(manifest) ? { fills: 'node_modules' } : {}),
  };
}

interface Manager {
  readonly name: string;
  readonly install: string;
  readonly run: string;
  readonly test: string;
}

/** The field that Corepack reads decides, else the lock file. */
function findManager(files: Listing, manifest: Fields): Manager {
  const [named = '', version = ''] = textOf(manifest['packageManager']).split('@');
  const lock = firstOf(files, ...Object.keys(LOCKS));
  const name = named in MANAGERS ? named : lock === undefined ? 'npm' : (LOCKS[lock] ?? 'npm');
  const isLocked = lock !== undefined && LOCKS[lock] === name;
  const isModernYarn = files.paths.has('.yarnrc.yml') || /^[2-9]/.test(version);
  const { frozen, loose, run, test } = MANAGERS[name === 'yarn' && isModernYarn ? 'berry' : name] ?? NPM;
  return { name, install: isLocked ? frozen : loose, run, test };
}

const LOCKS: Readonly<Record<string, string>> = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
};

const NPM = { frozen: 'npm ci', loose: 'npm install', run: 'npm run', test: 'npm test' };

const MANAGERS: Readonly<Record<string, typeof NPM>> = {
  npm: NPM,
  pnpm: { frozen: 'pnpm install --frozen-lockfile', loose: 'pnpm install', run: 'pnpm run', test: 'pnpm test' },
  yarn: { frozen: 'yarn install --frozen-lockfile', loose: 'yarn install', run: 'yarn run', test: 'yarn test' },
  berry: { frozen: 'yarn install --immutable', loose: 'yarn install', run: 'yarn run', test: 'yarn test' },
  // `bun test` would start Bun's own test runner.
  bun: { frozen: 'bun install --frozen-lockfile', loose: 'bun install', run: 'bun run', test: 'bun run test' },
};

/** Ignores the test script that `npm init` writes, which always fails. */
function isScript(command: unknown): boolean {
  return typeof command === 'string' && command.trim() !== '' && !command.includes('no test specified');
}

function hasPackages(manifest: Fields): boolean {
  const lists = ['dependencies', 'devDependencies', 'optionalDependencies'];
  return lists.some((name) => Object.keys(fieldsOf(manifest[name])).length > 0) || manifest['workspaces'] !== undefined;
}
