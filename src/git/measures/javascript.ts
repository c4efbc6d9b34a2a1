import { fieldsOf, isObject, type Fields } from '../../protocol/shape/read-unknown.ts';
import { parse as parseYaml } from 'yaml';
import { namesIn } from './table.ts';

export function parsePackageJson(text: string): Set<string> {
  const manifest = parseJson(text);
  const pnpm = isObject(manifest['pnpm']) ? manifest['pnpm']['overrides'] : undefined;
  return new Set([
    ...FIELDS.flatMap((field) => packagesIn(manifest[field])),
    ...[manifest['overrides'], manifest['resolutions'], pnpm].flatMap(aliasesIn),
  ]);
}

export function nameInPackageJson(text: string): string | undefined {
  const { name } = parseJson(text);
  return typeof name === 'string' ? name : undefined;
}

/** An alias (`"a": "npm:b@1"`) counts as its target; workspace packages belong to the repository. */
function packagesIn(dependencies: unknown): string[] {
  if (!isObject(dependencies)) return [];
  return Object.entries(dependencies).flatMap(([name, wanted]) => {
    if (typeof wanted !== 'string') return [name];
    if (wanted.startsWith('workspace:')) return [];
    return [aliased(wanted) ?? name];
  });
}

/** Alias targets in overrides at any depth. */
function aliasesIn(overrides: unknown): string[] {
  if (isObject(overrides)) return Object.values(overrides).flatMap(aliasesIn);
  const name = typeof overrides === 'string' ? aliased(overrides) : undefined;
  return name === undefined ? [] : [name];
}

function aliased(wanted: string): string | undefined {
  return /^npm:(?<name>@?[^@]+)(?:@|$)/.exec(wanted)?.groups?.['name'];
}

const FIELDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/** Reads package-lock.json and npm-shrinkwrap.json, of npm 7 and later (`packages`) and earlier (`dependencies`). */
export function parseNpmLock(text: string): Set<string> {
  const lock = parseJson(text);
  const names = Object.entries(fieldsOf(lock['packages'])).flatMap(([path, found]) => {
    const at = path.lastIndexOf('node_modules/');
    // A link is a package of the repository.
    if (at < 0 || (isObject(found) && found['link'] === true)) return [];
    // An alias is installed under another name than its package.
    const alias = isObject(found) && typeof found['name'] === 'string' ? [found['name']] : [];
    return [path.slice(at + 'node_modules/'.length), ...alias];
  });
  return new Set([...names, ...nestedNames(lock['dependencies'])]);
}

function nestedNames(dependencies: unknown): string[] {
  if (!isObject(dependencies)) return [];
  return Object.entries(dependencies).flatMap(([name, found]) => [
    name,
    ...(isObject(found) ? nestedNames(found['dependencies']) : []),
  ]);
}

/** Keys of pnpm-lock.yaml such as `/name/1.0.0`, `/@scope/name@1.0.0(peer@2)`, `name@1.0.0`. */
export function parsePnpmLock(text: string): Set<string> {
  const lock: unknown = parseYaml(text);
  if (!isObject(lock)) throw new TypeError('not a pnpm lock file');
  return new Set(namesIn(lock['packages']).map((key) => pnpmName(key)));
}

function pnpmName(key: string): string {
  const bare = key.replace(/^\//, '').replace(/\(.*$/, '');
  const at = bare.indexOf('@', 1);
  if (at > 0) return bare.slice(0, at);
  const parts = bare.split('/');
  return bare.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? bare);
}

/** Entries of yarn.lock (all versions) start with `"name@^1.0.0", "name@npm:^1.1.0":`. */
export function parseYarnLock(text: string): Set<string> {
  const names = new Set<string>();
  for (const line of text.split('\n')) {
    if (!/^["@\w].*:\s*$/.test(line) || line.startsWith('__metadata')) continue;
    for (const specifier of line.trim().replace(/:$/, '').split(',')) {
      const bare = specifier.trim().replaceAll('"', '');
      const at = bare.indexOf('@', 1);
      if (at > 0 && !bare.slice(at).startsWith('@workspace:'))
        names.add(aliasIn(bare.slice(at + 1)) ?? bare.slice(0, at));
    }
  }
  return names;
}

/** `a@npm:b@^1` is an alias; `a@npm:^1` is not. */
function aliasIn(range: string): string | undefined {
  return /^npm:(?<name>@?[^@]+)@/.exec(range)?.groups?.['name'];
}

/** bun.lock is JSON with trailing commas, with `packages` by install path. */
export function parseBunLock(text: string): Set<string> {
  const lock = parseJson(text.replaceAll(/,(\s*[}\]])/g, '$1'));
  const packages: Fields = fieldsOf(lock['packages']);
  return new Set(
    Object.values(packages).flatMap((found) => {
      const specifier: unknown = Array.isArray(found) ? found[0] : undefined;
      if (typeof specifier !== 'string' || specifier.includes('@workspace:')) return [];
      return [specifier.slice(0, specifier.indexOf('@', 1))];
    }),
  );
}

function parseJson(text: string): Fields {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
  if (!isObject(value)) throw new TypeError('not a JSON object');
  return value;
}
