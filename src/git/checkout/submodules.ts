import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOperatorConfig, settingArguments } from '../config.ts';
import { type ObjectFormat, renderOwnConfig, runOwnGit } from '../own/own-repository.ts';
import { transferPack } from '../own/transfer-pack.ts';
import { attempt, git, gitFailure, gitFields, type GitResult, gitText, type OwnGitFolder, unwrap } from '../run-git.ts';
import type { CheckoutRequest, CheckoutSource, MakeCheckout } from './checkout-request.ts';

/** Checks out the submodules of a commit at their recorded commits, from the URLs on the main branch. */
export async function checkOutSubmodules(
  own: CheckoutSource,
  request: CheckoutRequest,
  place: OwnGitFolder & { readonly worktree: string },
  makeCheckout: MakeCheckout,
): Promise<GitResult<null>> {
  const { stateDir, depth = 0 } = request;
  return attempt(async () => {
    const listed = unwrap(await gitFields(['ls-files', '--stage', '-z'], { cwd: place, maxBytes: 1024 ** 3 }));
    const links = listed.filter((line) => line.startsWith('160000 '));
    if (links.length === 0) return null;
    if (depth >= MOST_DEPTH) {
      const message = `submodules are nested more than ${MOST_DEPTH} levels deep`;
      unwrap(gitFailure('git/submodule-depth', message, 'Remove the submodule that contains itself.'));
    }
    const both = [request.main.sha, request.sha].map(async (commit) => readSubmodules(place, commit));
    const [main = [], head = []] = await Promise.all(both);
    for (const line of links) {
      const [sha, path] = [line.split(' ')[1] ?? '', line.slice(line.indexOf('\t') + 1)];
      const entry = findAllowedSubmodule(path, main, head) ?? unknownSubmodule(path);
      const onMain = await linkAt(place, request.main.sha, entry.path);
      const wanted = { entry, stateDir, format: own.format };
      const clone = sha === onMain ? own.source : undefined;
      const fetched = unwrap(await fetchSubmodule({ ...wanted, sha, clone }));
      // The commit recorded on the main branch decides about attributes and nested submodules.
      if (onMain !== undefined) unwrap(await fetchSubmodule({ ...wanted, sha: onMain, clone: own.source }));
      const base = onMain ?? sha;
      const inside = { ...request, sha, base, main: { name: 'main', sha: base }, depth: depth + 1 };
      const source = own.source && findSubmoduleClone(own.source, entry);
      const from = { ...fetched, ...(source === undefined ? {} : { source }) };
      unwrap(await makeCheckout(from, inside, join(place.worktree, path)));
    }
    return null;
  });
}

const MOST_DEPTH = 8;

function unknownSubmodule(path: string): never {
  const message = `'${path}' is a submodule whose path and URL are not on the main branch`;
  const hint = 'Add the submodule to .gitmodules on the main branch, then run the check again.';
  return unwrap(gitFailure('git/submodule-unknown', message, hint));
}

async function linkAt(place: OwnGitFolder, commit: string, path: string): Promise<string | undefined> {
  const found = await gitText(['ls-tree', '-z', commit, '--', path], { cwd: place });
  return found.ok ? /^160000 commit ([0-9a-f]+)\t/.exec(found.value)?.[1] : undefined;
}

interface SubmoduleWanted {
  readonly entry: SubmoduleEntry;
  readonly sha: string;
  readonly stateDir: string;
  readonly format: ObjectFormat;
  /** Set only if main records the same commit: agents can write to the clone, so other commits come from the URL. */
  readonly clone: { readonly commonDir: string } | undefined;
}

/** Opens Baton's repository of a submodule URL, and fetches a missing commit into it. */
async function fetchSubmodule(wanted: SubmoduleWanted): Promise<GitResult<CheckoutSource>> {
  const { entry, sha, format } = wanted;
  const own = openSubmodule(wanted);
  if ((await has(own, sha)) || (await copyFromClone(own, wanted))) return { ok: true, value: own };
  const protocol = protocolsFor(entry.url);
  if (protocol === undefined) {
    const about = isRelativeUrl(entry.url) ? 'is relative' : 'has an unsupported protocol';
    const message = `submodule '${entry.path}' at ${sha} is not in your clone, and its URL ${about}: ${entry.url}`;
    const hint = isRelativeUrl(entry.url)
      ? `Bring the commit to the main branch first, or write the whole URL in .gitmodules there.`
      : 'Use https, ssh or a path in .gitmodules on the main branch.';
    return gitFailure('git/submodule-url', message, hint);
  }
  const settings = settingArguments(await readOperatorConfig(), (name) => NEEDED.test(name));
  const { HOME: home } = process.env;
  const env = { GIT_ALLOW_PROTOCOL: protocol, ...(home === undefined ? {} : { HOME: home }) };
  const options = { env, timeoutMs: 1_800_000 };
  const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--'];
  const one = await runOwnGit(own, [...settings, ...fetch, entry.url, `+${sha}:${PIN}/${sha}`], options);
  if (one.ok) return { ok: true, value: own };
  // Some servers do not serve a commit by its id.
  const all = await runOwnGit(own, [...settings, ...fetch, entry.url, '+refs/heads/*:refs/heads/theirs/*'], options);
  if (all.ok && (await has(own, sha))) return { ok: true, value: own };
  const why = all.ok ? `${entry.url} does not have it` : all.problem.message;
  const message = `submodule '${entry.path}' at ${sha} (${format}) cannot be fetched: ${why}`;
  const hint = `Check whether the commit is published: git ls-remote ${entry.url}`;
  return gitFailure('git/submodule-fetch', message, hint);
}

const PIN = 'refs/heads/commits';
/** The operator's settings for reaching other hosts: logins, proxies, certificates, host aliases. */
const NEEDED = /^(?:credential\.|http\.|https\.|url\.|core\.sshcommand$|ssh\.)/;

function openSubmodule({ entry, stateDir, format }: SubmoduleWanted): CheckoutSource {
  const name = createHash('sha256').update(entry.url).digest('hex').slice(0, 32);
  const gitDir = join(stateDir, 'repositories', 'submodules', `${name}${format === 'sha1' ? '' : `.${format}`}.git`);
  for (const folder of ['objects/pack', 'objects/info', PIN]) {
    mkdirSync(join(gitDir, folder), { recursive: true, mode: 0o700 });
  }
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(gitDir, 'config'), renderOwnConfig(format));
  return { gitDir, format, objects: join(gitDir, 'objects') };
}

/** A ref proves that the commit is complete, because an interrupted fetch leaves none. */
async function has(own: CheckoutSource, sha: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--contains', sha, '--format=%(refname)'];
  const found = await runOwnGit(own, args, { answers: [129, 128, 1] });
  return found.ok && found.value.code === 0 && found.value.stdout !== '';
}

function findSubmoduleClone(
  { commonDir }: { readonly commonDir: string },
  { name }: SubmoduleEntry,
): { readonly commonDir: string } | undefined {
  // A name such as ../../x would lead out of the folder of clones.
  if (!/^[^/\\]+(?:\/[^/\\]+)*$/.test(name) || name.split('/').includes('..')) return undefined;
  const folder = join(commonDir, 'modules', name);
  return existsSync(join(folder, 'objects')) ? { commonDir: folder } : undefined;
}

async function copyFromClone(own: CheckoutSource, { entry, sha, clone }: SubmoduleWanted): Promise<boolean> {
  const found = clone && findSubmoduleClone(clone, entry);
  if (found === undefined) return false;
  const objects = join(found.commonDir, 'objects');
  const copied = await transferPack(own, { from: { objects }, to: { objects: own.objects }, wants: [sha], haves: [] });
  return copied.ok && (await runOwnGit(own, ['update-ref', `${PIN}/${sha}`, sha])).ok;
}

export interface SubmoduleEntry {
  readonly name: string;
  readonly path: string;
  readonly url: string;
}

/** The submodules that a commit names; empty if it has no `.gitmodules` file. */
async function readSubmodules(place: OwnGitFolder, commit: string): Promise<readonly SubmoduleEntry[]> {
  const blob = `${commit}:.gitmodules`;
  const found = unwrap(await git(['cat-file', '-t', blob], { cwd: place, answers: [128] }));
  if (found.stdout !== 'blob\n') return [];
  const listed = unwrap(await git(['config', '--blob', blob, '--no-includes', '--list', '-z'], { cwd: place }));
  return parseSubmodules(listed.stdout);
}

/** Parses `git config --list -z`. The last value of a key applies, as in git. */
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

/** Finds the submodule at a path if the main branch has its URL. A branch must not introduce a URL. */
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

/** The protocols that git may use for a URL; undefined if Baton supports none. */
export function protocolsFor(url: string): string | undefined {
  // `ext::sh -c …` and other helpers run programs.
  if (/^[a-z0-9]+::/i.test(url) || url.startsWith('-')) return undefined;
  if (url.startsWith('https://')) return 'https';
  if (/^(?:ssh|git\+ssh):\/\//.test(url)) return 'ssh';
  if (url.startsWith('file://') || url.startsWith('/')) return 'file';
  if (/^\.\.?\//.test(url)) return undefined;
  // host:path means ssh.
  return /^[^/:]+:(?!\/\/)./.test(url) ? 'ssh' : undefined;
}

function isRelativeUrl(url: string): boolean {
  return /^\.\.?(?:\/|$)/.test(url);
}
