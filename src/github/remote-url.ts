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
