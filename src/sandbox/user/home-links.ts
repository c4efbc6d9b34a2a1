import type { Mount } from '../../protocol/sandbox.ts';

export interface HomeEntry {
  /** Relative to the session's HOME. */
  readonly path: string;
  /** Null: a folder. */
  readonly link: string | null;
}

/**
 * Another user has no mounts: its HOME is a folder with a link for each path of the operator's home that the session
 * may use. Whether it can read or write there is a matter of the modes of the files.
 */
export function homeLinks(mounts: readonly Mount[], home: string): readonly HomeEntry[] {
  const entries = new Map<string, HomeEntry>();
  for (const mount of mounts) {
    if (!mount.at.startsWith(`${home}/`)) continue;
    const path = mount.at.slice(home.length + 1);
    for (const known of entries.keys()) if (known === path || known.startsWith(`${path}/`)) entries.delete(known);
    if (mount.kind === 'scratch') entries.set(path, { path, link: null });
    else if (mount.kind === 'link') entries.set(path, { path, link: mount.to });
    else if (mount.kind === 'read' || mount.kind === 'write') entries.set(path, { path, link: mount.from });
  }
  // What lies below a link is what the link leads to.
  const isBelowLink = ({ path }: HomeEntry): boolean =>
    [...entries.values()].some((other) => other.link !== null && path.startsWith(`${other.path}/`));
  return [...entries.values()].filter((entry) => !isBelowLink(entry));
}
