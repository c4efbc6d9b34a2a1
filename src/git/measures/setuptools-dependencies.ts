import { nameOfSpecifier } from './python.ts';

/** setup.cfg: what `[options]` and `[options.extras_require]` ask for, a requirement a line. */
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
    const asks = (section === 'options' && KEYS.test(key)) || section === 'options.extras_require';
    const wanted = (begun?.['rest'] ?? line).split(';').filter((part) => !MARKER.test(part));
    if (asks) names.push(...wanted.flatMap(nameOfSpecifier));
  }
  return new Set(names);
}

/** Where a requirement holds, behind a semicolon; another requirement may stand there as well. */
const MARKER =
  /^[\s(]*(?:python_(?:full_)?version|os_name|sys_platform|platform_\w+|implementation_\w+|extra)\s*(?:[<>=!~]|in\b|not\b)/;
const KEYS = /^(?:install|setup|tests)_requires?$/;

/** setup.py: the texts that are written out in its lists of requirements. What it works out when it runs nobody can read. */
export function parseSetupPy(text: string): Set<string> {
  const names: string[] = [];
  const code = text.replaceAll(/^\s*#.*$/gm, '');
  for (const { index, 0: found } of code.matchAll(
    /\b(?:install_requires|setup_requires|tests_require|extras_require)\s*=\s*/g,
  )) {
    const listed = bracketed(code, index + found.length);
    for (const [, , literal = '', after] of listed.matchAll(/(['"])((?:(?!\1).)*)\1(\s*:)?/g)) {
      // The name of an extra is none of a package.
      if (after === undefined) names.push(...nameOfSpecifier(literal));
    }
  }
  return new Set(names);
}

/** From a bracket to the one that closes it, texts included. */
function bracketed(code: string, from: number): string {
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    if ('[{('.includes(code[at] ?? '')) depth += 1;
    if (']})'.includes(code[at] ?? '')) depth -= 1;
    if (depth <= 0) return code.slice(from, at + 1);
  }
  return code.slice(from);
}
