import { git, gitLines, gitText } from '../git/run-git.ts';
import { findProgram } from '../notify/run-program.ts';

/** What `[github]` of a runbook says. */
export interface GithubSettings {
  /** Undefined: where there is a remote at GitHub, and `gh`. */
  readonly pullRequests: boolean | undefined;
  readonly repository: string | undefined;
  readonly remote: string | undefined;
  readonly draft: boolean;
}

/** Where the pull requests of a project are. */
export interface PullRequestTarget {
  readonly repository: string;
  readonly remote: string;
  readonly draft: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether a project has pull requests: it says so, or it has a remote at GitHub (or at the host of `GH_HOST`) and `gh` is there. A project
 * that asks for them gets them, or hears why not; one that does not ask, and lacks something, merges here as ever. `unknown`: git did not say.
 */
export async function findGithub(
  path: string,
  { pullRequests, repository, remote, draft }: GithubSettings,
  env: Environment,
): Promise<PullRequestTarget | 'unknown' | undefined> {
  const isAsked = pullRequests === true || repository !== undefined;
  if (pullRequests === false || (!isAsked && findProgram('gh', env) === undefined)) return undefined;
  const remotes = await readRemotes(path);
  if (remotes === undefined) return 'unknown';
  const hosts = new Set([GITHUB_HOST, env['GH_HOST']?.toLowerCase()]);
  const isFit = ({ name, at }: Remote): boolean =>
    (remote === undefined || name === remote) && at !== undefined && hosts.has(at.host);
  const found = remotes.find((each) => each.name === 'origin' && isFit(each)) ?? remotes.find(isFit);
  if (repository !== undefined) {
    const named = parseRepository(repository);
    const name = remote ?? found?.name ?? 'origin';
    return named === undefined ? undefined : { repository: renderRepository(named), remote: name, draft };
  }
  if (found?.at !== undefined) return { repository: renderRepository(found.at), remote: found.name, draft };
  // Asked for, and nowhere to be found: whoever publishes says so.
  return isAsked ? { repository: '', remote: remote ?? 'origin', draft } : undefined;
}

/** Whose branch it is, where that is not the owner of the repository: a fork. */
export async function findHeadOwner(path: string, remote: string, { owner }: GithubRepository): Promise<string> {
  const url = await gitText(['remote', 'get-url', '--push', '--', remote], { cwd: path });
  return (url.ok ? parseRemoteUrl(url.value)?.owner : undefined) ?? owner;
}

interface Remote {
  readonly name: string;
  readonly at: GithubRepository | undefined;
}

async function readRemotes(path: string): Promise<readonly Remote[] | undefined> {
  const names = await gitLines(['remote'], { cwd: path });
  if (!names.ok) return undefined;
  const remotes: Remote[] = [];
  for (const name of names.value) {
    const url = await git(['remote', 'get-url', '--', name], { cwd: path, answers: [2] });
    if (!url.ok) return undefined;
    remotes.push({ name, at: parseRemoteUrl(url.value.stdout.trim()) });
  }
  return remotes;
}

/** A repository at GitHub, or at a GitHub of one's own. */
export interface GithubRepository {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

export const GITHUB_HOST = 'github.com';

/** `https://…`, `ssh://…`, `git@host:owner/name`: whatever git has as the address of a remote. Undefined: no host, owner and name. */
export function parseRemoteUrl(url: string): GithubRepository | undefined {
  const [, host, path] = SCHEME.exec(url) ?? SCP.exec(url) ?? [];
  if (host === undefined || path === undefined) return undefined;
  const [owner, name, ...more] = path.replace(/\.git\/?$|\/$/, '').split('/');
  if (owner === undefined || name === undefined || more.length > 0) return undefined;
  return parts(host.toLowerCase() === SSH_OVER_HTTPS ? GITHUB_HOST : host.toLowerCase(), owner, name);
}

const SCHEME = /^(?:https?|ssh|git|git\+ssh):\/\/(?:[^@/\s]*@)?([^:/\s]+)(?::\d+)?\/+(\S+)$/;
const SCP = /^(?:[^@/:\s]+@)?([^:/\s]+):(?!\/\/)\/?(\S+)$/;
const SSH_OVER_HTTPS = 'ssh.github.com';

/** `owner/name`, or `host/owner/name`: as `gh` takes it, as `baton.toml` has it, and as the ledger writes it. */
export function parseRepository(text: string): GithubRepository | undefined {
  const [name, owner, host = GITHUB_HOST, ...more] = text.split('/').toReversed();
  return name === undefined || owner === undefined || more.length > 0
    ? undefined
    : parts(host.toLowerCase(), owner, name);
}

export function renderRepository({ host, owner, name }: GithubRepository): string {
  return host === GITHUB_HOST ? `${owner}/${name}` : `${host}/${owner}/${name}`;
}

/** Settings of git under which it may log in as `gh` does, where it knows no password of its own. The commands of gh do the same. */
export function ghLoginConfig({ host }: GithubRepository): readonly string[] {
  return [`credential.https://${host}.helper=!gh auth git-credential`];
}

function parts(host: string, owner: string, name: string): GithubRepository | undefined {
  const isFit = HOST.test(host) && NAME.test(owner) && NAME.test(name) && name !== '.' && name !== '..';
  return isFit ? { host, owner, name } : undefined;
}

const HOST = /^[a-z0-9][a-z0-9.-]*$/;
/** They become part of a path; nothing in them may end it. */
const NAME = /^[\w.-]{1,100}$/;
