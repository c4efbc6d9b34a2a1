import type { Mount } from '../../protocol/sandbox.ts';

export interface HomeEntry {
  /** The path relative to the session's HOME. */
  readonly path: string;
  /** The link's target; null for a folder. */
  readonly link: string | null;
}

/**
 * Another user has no mounts: its HOME is a folder with a link for each path of the operator's home that the session
 * may use. The files' modes determine whether it can read or write there.
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
  // A path below a link is already visible through the link.
  const isBelowLink = ({ path }: HomeEntry): boolean =>
    [...entries.values()].some((other) => other.link !== null && path.startsWith(`${other.path}/`));
  return [...entries.values()].filter((entry) => !isBelowLink(entry));
}
