/**
 * Normalizes a path to an absolute POSIX path without `.`, `..`, doubled or trailing slashes. Pure folders cannot use
 * `node:path`.
 */
export function normalizePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

export function joinPath(folder: string, rest: string): string {
  return normalizePath(`${folder}/${rest}`);
}

export function folderOf(path: string): string {
  return normalizePath(`${path}/..`);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Reports whether a path is a folder or below it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

export function isBelow(path: string, folder: string): boolean {
  return path !== folder && isInside(path, folder);
}

/** The part of a path below a folder; empty for the folder itself. */
export function pathBelow(path: string, folder: string): string {
  return path.slice(folder.length).replace(/^\//, '');
}

/** All parent folders, the outermost first, and the path itself; without `/`. */
export function stepsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`);
}

/** Orders folders directly before the paths below them. */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x = '', y = ''] = [left[i], right[i]];
    if (x !== y) return x < y ? -1 : 1;
  }
  return left.length - right.length;
}
