import { git, gitLines, gitText } from '../git/run-git.ts';
import { findProgram } from '../notify/run-program.ts';

export interface GithubSettings {
  /** Undefined: pull requests are used if the project has a GitHub remote and `gh` is installed. */
  readonly pullRequests: boolean | undefined;
  readonly repository: string | undefined;
  readonly remote: string | undefined;
  readonly draft: boolean;
}

export interface PullRequestTarget {
  readonly repository: string;
  readonly remote: string;
  readonly draft: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether a project uses pull requests: either it requests them, or it has a remote at GitHub (or at `GH_HOST`) and
 * `gh` is installed. A project that requests them but lacks a part gets an error later; one that does not merges
 * locally. `unknown`: git failed.
 */
export async function findGithub(
  path: string,
  { pullRequests, repository, remote, draft }: GithubSettings,
  env: Environment,
): Promise<PullRequestTarget | 'unknown' | undefined> {
  const isAsked = pullRequests === true || repository !== undefined;
  if (pullRequests === false || (!isAsked && findProgram('gh', env) === undefined)) return undefined;
  const found = await findGithubRemote(path, remote, env);
  if (found === 'unknown') return 'unknown';
  if (repository !== undefined) {
    const named = parseRepository(repository);
    const name = remote ?? found?.name ?? 'origin';
    return named === undefined ? undefined : { repository: renderRepository(named), remote: name, draft };
  }
  if (found?.at !== undefined) return { repository: renderRepository(found.at), remote: found.name, draft };
  // Requested but not found: publishing reports the error.
  return isAsked ? { repository: '', remote: remote ?? 'origin', draft } : undefined;
}

/** The project's repository at GitHub, also if it uses no pull requests: reports of checks are about it. */
export async function findGithubRepository(
  path: string,
  { repository, remote }: Pick<GithubSettings, 'repository' | 'remote'>,
  env: Environment,
): Promise<string | undefined> {
  const named = repository === undefined ? undefined : parseRepository(repository);
  if (named !== undefined) return renderRepository(named);
  const found = await findGithubRemote(path, remote, env);
  return found === 'unknown' || found?.at === undefined ? undefined : renderRepository(found.at);
}

async function findGithubRemote(
  path: string,
  remote: string | undefined,
  env: Environment,
): Promise<Remote | 'unknown' | undefined> {
  const remotes = await readRemotes(path);
  if (remotes === undefined) return 'unknown';
  const hosts = new Set([GITHUB_HOST, env['GH_HOST']?.toLowerCase()]);
  const isFit = ({ name, at }: Remote): boolean =>
    (remote === undefined || name === remote) && at !== undefined && hosts.has(at.host);
  return remotes.find((each) => each.name === 'origin' && isFit(each)) ?? remotes.find(isFit);
}

/** The owner of the branch, which differs from the repository's owner for a fork. */
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

export interface GithubRepository {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

const GITHUB_HOST = 'github.com';

/** Parses a remote URL (`https://…`, `ssh://…`, `git@host:owner/name`); undefined if it has no host, owner and name. */
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

/** Parses `owner/name` or `host/owner/name`, as `gh`, `baton.toml` and the ledger write it. */
export function parseRepository(text: string): GithubRepository | undefined {
  const [name, owner, host = GITHUB_HOST, ...more] = text.split('/').toReversed();
  return name === undefined || owner === undefined || more.length > 0
    ? undefined
    : parts(host.toLowerCase(), owner, name);
}

export function renderRepository({ host, owner, name }: GithubRepository): string {
  return host === GITHUB_HOST ? `${owner}/${name}` : `${host}/${owner}/${name}`;
}

/** Git settings that let git use the login of `gh`, as gh's own commands do. */
export function ghLoginConfig({ host }: GithubRepository): readonly string[] {
  return [`credential.https://${host}.helper=!gh auth git-credential`];
}

function parts(host: string, owner: string, name: string): GithubRepository | undefined {
  const isFit = HOST.test(host) && NAME.test(owner) && NAME.test(name) && name !== '.' && name !== '..';
  return isFit ? { host, owner, name } : undefined;
}

const HOST = /^[a-z0-9][a-z0-9.-]*$/;
/** Each name becomes part of a URL path, so it must not contain separators. */
const NAME = /^[\w.-]{1,100}$/;
