import { findDependencyFile, type DependencyFile } from './dependency-files.ts';

/** A file that differs, before and after; undefined where it was, or is, not there. */
export interface ChangedText {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface NewDependency {
  readonly ecosystem: DependencyFile['ecosystem'];
  readonly name: string;
  /** The files that name it now. */
  readonly paths: readonly string[];
}

export interface DependencyFindings {
  readonly added: readonly NewDependency[];
  /** Files that changed and that nobody can read: what is in them cannot be vouched for. */
  readonly unreadable: readonly { readonly path: string; readonly why: string }[];
}

/**
 * What a change brings in that none of its files named before. A dependency that moves from one manifest of the repository to another is
 * not new, nor is a package of the repository itself; one that only a lock file names is. A file may be given in several states.
 */
export function findNewDependencies(changes: readonly ChangedText[]): DependencyFindings {
  const before = new Set<string>();
  const after = new Map<string, { ecosystem: DependencyFile['ecosystem']; name: string; paths: string[] }>();
  const unreadable: { path: string; why: string }[] = [];
  for (const { path, before: old, after: now } of changes) {
    const file = findDependencyFile(path);
    if (file === undefined) continue;
    try {
      for (const name of old === undefined ? [] : readLeniently(file, old)) before.add(`${file.ecosystem} ${name}`);
      for (const name of now === undefined ? [] : file.read(now)) {
        const key = `${file.ecosystem} ${name}`;
        const found = after.get(key);
        if (found === undefined) after.set(key, { ecosystem: file.ecosystem, name, paths: [path] });
        else if (!found.paths.includes(path)) found.paths.push(path);
      }
    } catch (error) {
      unreadable.push({ path, why: error instanceof Error ? error.message : String(error) });
    }
  }
  const added = [...after].flatMap(([key, found]) => (before.has(key) ? [] : [found]));
  return { added, unreadable };
}

/** A file that was broken before the change named nothing; that is nobody's fault now. */
function readLeniently({ read, nameIn }: DependencyFile, text: string): Set<string> {
  try {
    const own = nameIn?.(text);
    return own === undefined ? read(text) : read(text).add(own);
  } catch {
    return new Set();
  }
}
