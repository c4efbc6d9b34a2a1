import { git, type GitResult, type OwnGitFolder } from '../run-git.ts';

/** One submodule as a `.gitmodules` file has it. */
export interface SubmoduleEntry {
  readonly name: string;
  readonly path: string;
  readonly url: string;
}

/** The submodules that a commit names; none if it has no `.gitmodules` file. */
export async function readSubmodules(
  place: OwnGitFolder,
  commit: string,
): Promise<GitResult<readonly SubmoduleEntry[]>> {
  const blob = `${commit}:.gitmodules`;
  const found = await git(['cat-file', '-t', blob], { cwd: place, answers: [128] });
  if (!found.ok) return found;
  if (found.value.stdout !== 'blob\n') return { ok: true, value: [] };
  const listed = await git(['config', '--blob', blob, '--no-includes', '--list', '-z'], { cwd: place });
  return listed.ok ? { ok: true, value: parseSubmodules(listed.value.stdout) } : listed;
}

/** From what `git config --list -z` prints: `key\nvalue\0`. The last value of a key counts, as it does for git. */
export function parseSubmodules(listed: string): readonly SubmoduleEntry[] {
  const found = new Map<string, { path?: string; url?: string }>();
  for (const setting of listed.split('\0')) {
    const [, name, key, value] = /^submodule\.([^]+)\.(path|url)\n([^]*)$/.exec(setting) ?? [];
    if (name === undefined || key === undefined || value === undefined) continue;
    found.set(name, { ...found.get(name), [key]: value });
  }
  return [...found].flatMap(([name, { path, url }]) =>
    path === undefined || url === undefined ? [] : [{ name, path, url }],
  );
}

/**
 * The submodule at a path, if the main branch has its URL. A branch may move a submodule to another path or bring a second one from the
 * same place, but not name a new place.
 */
export function findAllowedSubmodule(
  path: string,
  main: readonly SubmoduleEntry[],
  head: readonly SubmoduleEntry[],
): SubmoduleEntry | undefined {
  const there = main.find((entry) => entry.path === path);
  if (there !== undefined) return there;
  const url = head.find((entry) => entry.path === path)?.url;
  return url === undefined ? undefined : main.find((entry) => entry.url === url);
}

/** The protocols that git may use for a URL; undefined if there is none that Baton uses. */
export function protocolsFor(url: string): string | undefined {
  // `ext::sh -c …` and other helpers run programs.
  if (/^[a-z0-9]+::/i.test(url) || url.startsWith('-')) return undefined;
  if (url.startsWith('https://')) return 'https';
  if (/^(?:ssh|git\+ssh):\/\//.test(url)) return 'ssh';
  if (url.startsWith('file://') || url.startsWith('/')) return 'file';
  if (/^\.\.?\//.test(url)) return undefined;
  // host:path, as ssh has it.
  return /^[^/:]+:(?!\/\/)./.test(url) ? 'ssh' : undefined;
}

export function isRelativeUrl(url: string): boolean {
  return /^\.\.?(?:\/|$)/.test(url);
}
