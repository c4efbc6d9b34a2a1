/**
 * Matches a path. `*` and `?` match within a name, `**` matches any folders. A pattern without a slash matches in every
 * folder; a leading slash anchors it to the root. Case is ignored, as in some file systems, and a folder's pattern also
 * matches the folder itself, which a link could replace.
 */
export function matchesGlob(pattern: string, path: string): boolean {
  return patternOf(pattern).test(foldPath(path));
}

const PATTERNS = new Map<string, RegExp>();

function patternOf(glob: string): RegExp {
  const known = PATTERNS.get(glob);
  if (known !== undefined) return known;
  const isRooted = glob.replace(/\/\*\*$/, '').includes('/');
  const text = foldPath(glob.replace(/^\//, ''));
  const source = text
    .replace(/\/\*\*$/, '')
    .split(/(\\.|\*\*\/|\*\*|\*|\?)/)
    .map((part) => SPECIAL[part] ?? RegExp.escape(part.replace(/^\\(.)$/, '$1')))
    .join('');
  const made = new RegExp(`^${isRooted ? '' : '(?:.*/)?'}${source}${text.endsWith('/**') ? '(?:/.*)?' : ''}$`, 's');
  if (PATTERNS.size > 4000) PATTERNS.clear();
  PATTERNS.set(glob, made);
  return made;
}

const SPECIAL: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

/** The form in which paths are compared: file systems that ignore case may also normalize letters. */
function foldPath(path: string): string {
  return path.normalize('NFKC').toLowerCase();
}

/** The path as a pattern that matches only itself. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[*?\\]/g, String.raw`\$&`);
}

/** Splits `GLOB#KEY`, which names a part of a JSON, TOML or YAML file. */
export function splitKey(pattern: string): readonly [glob: string, key: string | undefined] {
  const at = pattern.lastIndexOf('#');
  return at < 1 ? [pattern, undefined] : [pattern.slice(0, at), pattern.slice(at + 1)];
}
