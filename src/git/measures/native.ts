import { isObject, type Fields } from '../../protocol/shape/read-unknown.ts';
import { parse as parseToml } from 'smol-toml';

/** All kinds of dependencies of a Cargo.toml, including those of targets and of the workspace. */
export function parseCargoToml(text: string): Set<string> {
  const manifest: Fields = parseToml(text);
  const targets = isObject(manifest['target']) ? Object.values(manifest['target']).filter(isObject) : [];
  const places = [manifest, manifest['workspace'], ...targets].filter(isObject);
  return new Set(places.flatMap((place) => CARGO_KINDS.flatMap((kind) => cratesIn(place[kind]))));
}

const CARGO_KINDS = ['', 'dev-', 'dev_', 'build-', 'build_'].map((kind) => `${kind}dependencies`);

/** Returns crates by their real names, because a crate may be renamed. Those with a path belong to the repository. */
function cratesIn(dependencies: unknown): string[] {
  if (!isObject(dependencies)) return [];
  return Object.entries(dependencies).flatMap(([name, found]) => {
    if (!isObject(found)) return [name];
    if ('path' in found) return [];
    return [typeof found['package'] === 'string' ? found['package'] : name];
  });
}

export function nameInCargoToml(text: string): string | undefined {
  const own = parseToml(text)['package'];
  return isObject(own) && typeof own['name'] === 'string' ? own['name'] : undefined;
}

/** Packages of Cargo.lock without a source belong to the repository. */
export function parseCargoLock(text: string): Set<string> {
  const packages = parseToml(text)['package'];
  if (!Array.isArray(packages)) return new Set();
  return new Set(
    packages.flatMap((found) =>
      isObject(found) && typeof found['name'] === 'string' && 'source' in found ? [found['name']] : [],
    ),
  );
}

/** Reads `require` and `replace` of go.mod, in lines and blocks. A `tool` is a package of a required module. */
export function parseGoMod(text: string): Set<string> {
  const names = new Set<string>();
  let block: string | undefined;
  for (const raw of text.split('\n')) {
    const line = raw.replace(/\/\/.*$/, '').trim();
    if (line === ')') block = undefined;
    const opened = /^(?<word>\w+)\s*\($/.exec(line)?.groups?.['word'];
    if (opened !== undefined) {
      block = opened;
      continue;
    }
    const [word, ...rest] = block === undefined ? line.split(/\s+/) : [block, ...line.split(/\s+/)];
    const name = word === 'replace' ? rest[rest.indexOf('=>') + 1] : rest[0];
    const counts = word === 'require' || word === 'replace';
    // A replacement by a local folder adds nothing.
    if (counts && name !== undefined && name !== '' && name !== ')' && !/^\.{0,2}\//.test(name))
      names.add(name.replaceAll('"', ''));
  }
  return names;
}

export function nameInGoMod(text: string): string | undefined {
  return /^module\s+"?(?<name>[^\s"]+)/m.exec(text)?.groups?.['name'];
}

/** go.sum also lists modules that were only inspected, so a module counts by its name, not its version. */
export function parseGoSum(text: string): Set<string> {
  return new Set(text.split('\n').flatMap((line) => line.split(' ')[0] || []));
}
