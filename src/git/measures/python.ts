import { parse as parseToml } from 'smol-toml';
import { type Fields, fieldsOf, isObject } from '../../protocol/shape/read-unknown.ts';
import { namesIn, textsIn } from './table.ts';

/** Reads pyproject.toml: the standard tables, those of poetry, uv, pdm and hatch, and the build requirements. */
export function parsePyproject(text: string): Set<string> {
  const manifest: Fields = parseToml(text);
  const project = fieldsOf(manifest['project']);
  const tool = fieldsOf(manifest['tool']);
  const poetry = fieldsOf(tool['poetry']);
  const lists = [
    project['dependencies'],
    ...Object.values(fieldsOf(project['optional-dependencies'])),
    ...Object.values(fieldsOf(manifest['dependency-groups'])),
    fieldsOf(manifest['build-system'])['requires'],
    fieldsOf(tool['uv'])['dev-dependencies'],
    ...Object.values(fieldsOf(fieldsOf(tool['pdm'])['dev-dependencies'])),
    ...Object.values(fieldsOf(fieldsOf(tool['hatch'])['envs'])).map((env) => fieldsOf(env)['dependencies']),
  ];
  const named = [
    ...namesIn(poetry['dependencies']),
    ...namesIn(poetry['dev-dependencies']),
    ...Object.values(fieldsOf(poetry['group'])).flatMap((group) => namesIn(fieldsOf(group)['dependencies'])),
  ].filter((name) => name !== 'python');
  return new Set([...lists.flatMap(textsIn).flatMap(nameOfSpecifier), ...named.map(normalized)]);
}

export function nameInPyproject(text: string): string | undefined {
  const manifest: Fields = parseToml(text);
  const name = fieldsOf(manifest['project'])['name'] ?? fieldsOf(fieldsOf(manifest['tool'])['poetry'])['name'];
  return typeof name === 'string' ? normalized(name) : undefined;
}

/** Reads requirements.txt: one requirement per line, without options, comments and hashes. */
export function parseRequirements(text: string): Set<string> {
  const lines = text.replaceAll(/\\\r?\n/g, ' ').split('\n');
  return new Set(lines.flatMap((line) => requirement(line.replace(/(^|\s)#.*$/, '').trim())));
}

function requirement(line: string): string[] {
  // An included file with another name is not measured, so it counts as a dependency itself.
  const other = /^(?:-r|--requirement)[\s=]*(?<file>.+)$/.exec(line)?.groups?.['file'];
  if (other !== undefined) return other.includes('requirements') ? [] : [`-r ${other.trim()}`];
  const editable = /^(?:-e|--editable)[\s=]+(?<what>.+)$/.exec(line)?.groups?.['what'];
  const what = editable ?? line;
  if (what === '' || (editable === undefined && what.startsWith('-'))) return [];
  // A URL or path counts by its `#egg=` name, or else as a whole.
  if (/^(?:[a-z+]+:\/\/|\.{0,2}\/)/i.test(what))
    return [normalized(/[#&]egg=(?<egg>[\w.-]+)/.exec(what)?.groups?.['egg'] ?? what)];
  return nameOfSpecifier(what);
}

/** Reads `[[package]]` of uv.lock, poetry.lock and pdm.lock, and `[[packages]]` of pylock.toml. */
export function parseTomlLock(text: string): Set<string> {
  const lock = parseToml(text);
  const packages = lock['package'] ?? lock['packages'];
  if (!Array.isArray(packages)) return new Set();
  return new Set(
    packages.flatMap((found) => {
      if (!isObject(found) || typeof found['name'] !== 'string') return [];
      // Packages of the repository have a folder as source.
      const source = fieldsOf(found['source']);
      const isOwn = ['virtual', 'editable', 'directory'].some((kind) => kind in source || source['type'] === kind);
      return isOwn || 'directory' in found ? [] : [normalized(found['name'])];
    }),
  );
}

export function parsePipfile(text: string): Set<string> {
  const manifest: Fields = parseToml(text);
  return new Set([...namesIn(manifest['packages']), ...namesIn(manifest['dev-packages'])].map(normalized));
}

export function parsePipfileLock(text: string): Set<string> {
  const lock: unknown = JSON.parse(text);
  if (!isObject(lock)) throw new TypeError('not a Pipfile.lock');
  return new Set([...namesIn(lock['default']), ...namesIn(lock['develop'])].map(normalized));
}

function nameOfSpecifier(specifier: string): string[] {
  const name = /^[A-Za-z0-9][\w.-]*/.exec(specifier.trim())?.[0];
  return name === undefined ? [] : [normalized(name)];
}

/** `Flask_Login` and `flask-login` are one package. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

/** Reads `[options]` and `[options.extras_require]` of setup.cfg. */
export function parseSetupCfg(text: string): Set<string> {
  const names: string[] = [];
  let section = '';
  let key = '';
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:[#;]|$)/.test(line)) continue;
    const opened = /^\[(?<name>[^\]]+)\]/.exec(line)?.groups?.['name'];
    if (opened !== undefined) {
      section = opened.trim();
      continue;
    }
    const begun = /^(?<name>[^\s=:][^=:]*)[=:](?<rest>.*)$/.exec(line)?.groups;
    if (begun !== undefined) key = (begun['name'] ?? '').trim();
    const asks =
      (section === 'options' && /^(?:install|setup|tests)_requires?$/.test(key)) ||
      section === 'options.extras_require';
    const wanted = (begun?.['rest'] ?? line).split(';').filter((part) => !MARKER.test(part));
    if (asks) names.push(...wanted.flatMap(nameOfSpecifier));
  }
  return new Set(names);
}

/** An environment marker after a semicolon; a second requirement may follow there too. */
const MARKER =
  /^[\s(]*(?:python_(?:full_)?version|os_name|sys_platform|platform_\w+|implementation_\w+|extra)\s*(?:[<>=!~]|in\b|not\b)/;

/** Reads the literal requirements of setup.py. Computed requirements cannot be read. */
export function parseSetupPy(text: string): Set<string> {
  const names: string[] = [];
  const code = text.replaceAll(/^\s*#.*$/gm, '');
  for (const { index, 0: found } of code.matchAll(
    /\b(?:install_requires|setup_requires|tests_require|extras_require)\s*=\s*/g,
  )) {
    const listed = bracketed(code, index + found.length);
    for (const [, , literal = '', after] of listed.matchAll(/(['"])((?:(?!\1).)*)\1(\s*:)?/g)) {
      // A key names an extra, not a package.
      if (after === undefined) names.push(...nameOfSpecifier(literal));
    }
  }
  return new Set(names);
}

function bracketed(code: string, from: number): string {
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    if ('[{('.includes(code[at] ?? '')) depth += 1;
    if (']})'.includes(code[at] ?? '')) depth -= 1;
    if (depth <= 0) return code.slice(from, at + 1);
  }
  return code.slice(from);
}
