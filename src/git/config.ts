import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, git, gitFailure, gitFields, type GitOptions, type GitResult, unwrap } from './run-git.ts';

/** Settings by name as git prints it: section and key in lower case. */
export type OperatorConfig = ReadonlyMap<string, string>;

/**
 * Reads only the global and system files: agents can write a repository's configuration, so no program or person is
 * read from there.
 */
export async function readOperatorConfig(env: NodeJS.ProcessEnv = process.env): Promise<OperatorConfig> {
  const key = JSON.stringify([env['GIT_CONFIG_GLOBAL'], env['HOME'], env['XDG_CONFIG_HOME']]);
  if (cached?.key !== key || cached.untilMs < performance.now())
    cached = { key, config: readNow(), untilMs: performance.now() + FRESH_MS };
  return cached.config;
}

/** Cached this long, because one merge or measurement reads the configuration several times. */
const FRESH_MS = 2000;
let cached: { readonly key: string; readonly config: Promise<OperatorConfig>; readonly untilMs: number } | undefined;

async function readNow(): Promise<OperatorConfig> {
  // With an invalid git folder, git finds no repository in any folder.
  return new Map(await listSettings(['--list', '--includes'], { cwd: '/', env: { GIT_DIR: '/dev/null' } }));
}

/** Names and values as `git config -z` prints them, in order; empty if git fails. A key without a value is true. */
export async function listSettings(args: readonly string[], options: GitOptions): Promise<readonly [string, string][]> {
  const listed = await gitFields(['config', '-z', ...args], { ...options, answers: [1] });
  return (listed.ok ? listed.value : []).map((each) => {
    const end = each.indexOf('\n');
    return end === -1 ? [each, 'true'] : [each.slice(0, end), each.slice(end + 1)];
  });
}

export function settingArguments(config: OperatorConfig, isWanted: (name: string) => boolean): string[] {
  return [...config].filter(([name]) => isWanted(name)).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Arguments for line ends and filters: all filters of the operator, or only the named ones. */
export function conversionSettings(config: OperatorConfig, filters: readonly string[] | 'all'): string[] {
  return settingArguments(config, (name) => {
    if (name === 'core.autocrlf' || name === 'core.eol') return true;
    const [, filter] = /^filter\.(.+)\.(?:clean|smudge|process|required)$/.exec(name) ?? [];
    return filter !== undefined && (filters === 'all' || filters.includes(filter));
  });
}

export interface GitIdentity {
  readonly name: string;
  readonly email: string;
}

/** The author or committer of Baton's commits: the operator, or Baton if none is configured. */
export function operatorIdentity(
  part: 'author' | 'committer',
  config: OperatorConfig,
  env: NodeJS.ProcessEnv = process.env,
): GitIdentity {
  const find = (field: 'name' | 'email'): string | undefined =>
    env[`GIT_${part}_${field}`.toUpperCase()] ?? config.get(`${part}.${field}`) ?? config.get(`user.${field}`);
  const [name, email] = [find('name'), find('email')];
  return name && email ? { name, email } : { name: 'Baton', email: 'baton@localhost' };
}

/** The operator's signing settings as git arguments; undefined if commits are not signed. */
export function signingArguments(config: OperatorConfig): readonly string[] | undefined {
  if (!/^(?:true|yes|on|1)$/i.test(config.get('commit.gpgsign') ?? '')) return undefined;
  return settingArguments(config, (name) => name === 'user.signingkey' || name.startsWith('gpg.'));
}

export function operatorEnvironment({ HOME = '', ...env }: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const xdg = env['XDG_CONFIG_HOME'] ?? join(HOME, '.config');
  const files = [join(HOME, '.gitconfig'), join(xdg, 'git', 'config')];
  const file = env['GIT_CONFIG_GLOBAL'] ?? files.find((path) => existsSync(path)) ?? '/dev/null';
  return { HOME, XDG_CONFIG_HOME: xdg, GIT_CONFIG_GLOBAL: file };
}

export async function readConfig(
  cwd: string,
  scope: readonly string[],
  name: string,
): Promise<GitResult<string | null>> {
  const value = await git(['config', ...scope, '--get', name], { cwd, answers: [1] });
  if (!value.ok) return value;
  return { ok: true, value: value.value.code === 1 ? null : value.value.stdout.replace(/\n$/, '') };
}

/**
 * Changes the configuration. Git does not wait for its lock, which other processes hold only briefly, so this retries.
 */
export async function changeConfig(cwd: string, args: readonly string[]): Promise<GitResult<void>> {
  for (let tries = 1; ; tries++) {
    // Exit code 5: there was nothing to unset.
    const changed = await git(['config', ...args], { cwd, answers: [5] });
    if (changed.ok) return { ok: true, value: undefined };
    if (tries === TRIES || !/could not lock/.test(changed.problem.message)) return changed;
    await sleep(PAUSE_MS);
  }
}

/** Moves two settings to the main worktree's file, as git's documentation of `extensions.worktreeConfig` requires. */
export async function enableWorktreeConfig(commonDir: string): Promise<GitResult<void>> {
  const common = ['--file', join(commonDir, 'config')];
  const main = ['--file', join(commonDir, 'config.worktree')];
  const isTrue = async (name: string): Promise<boolean> =>
    unwrap(await readConfig(commonDir, [...common, '--type=bool'], name)) === 'true';
  return attempt(async () => {
    if (await isTrue('extensions.worktreeConfig')) return;
    const isBare = await isTrue('core.bare');
    const tree = unwrap(await readConfig(commonDir, common, 'core.worktree'));
    const changes = [
      ...(isBare ? [[...main, 'core.bare', 'true']] : []),
      ...(tree === null ? [] : [[...main, 'core.worktree', tree]]),
      [...common, 'extensions.worktreeConfig', 'true'],
      ...(isBare ? [[...common, '--unset-all', 'core.bare']] : []),
      ...(tree === null ? [] : [[...common, '--unset-all', 'core.worktree']]),
    ];
    for (const change of changes) unwrap(await changeConfig(commonDir, change));
  });
}

/** The repository's settings about files and line ends, as git arguments. Unknown values are dropped. */
export async function readFileSettings(checkout: string): Promise<string[]> {
  const command = String.raw`^core\.(filemode|symlinks|ignorecase|autocrlf|eol)$`;
  const settings = await listSettings(['--get-regexp', command], { cwd: checkout });
  return settings.flatMap(([name, given]) => {
    const value = given.toLowerCase();
    return VALUES[name]?.test(value) === true ? ['-c', `${name}=${value}`] : [];
  });
}

const BOOLEAN = /^(?:true|false|yes|no|on|off|1|0)$/;
const VALUES: Readonly<Record<string, RegExp>> = {
  'core.filemode': BOOLEAN,
  'core.symlinks': BOOLEAN,
  'core.ignorecase': BOOLEAN,
  'core.autocrlf': /^(?:true|false|yes|no|on|off|1|0|input)$/,
  'core.eol': /^(?:lf|crlf|native)$/,
};

/** Returns the URL of a remote. No other setting of the remote is read, because some name programs. */
export async function findRemoteUrl(
  repository: string,
  remote: string,
  to: 'fetch' | 'push',
): Promise<GitResult<string>> {
  for (const name of to === 'push' ? ['pushurl', 'url'] : ['url']) {
    const url = await readConfig(repository, [], `remote.${remote}.${name}`);
    if (!url.ok) return url;
    if (url.value !== null) return { ok: true, value: isPath(url.value) ? resolve(repository, url.value) : url.value };
  }
  return gitFailure('git/remote-unreachable', `there is no remote '${remote}'`, 'See all remotes: git remote -v');
}

/** Git treats a URL as a path if it has no scheme and no host before a colon. */
export function isPath(url: string): boolean {
  return !/^[a-z0-9+]+:\/\//i.test(url) && !/^[^/]*:/.test(url);
}

/**
 * The commit identity for sessions of a repository, as environment variables. Some clients run git without the user's
 * configuration, which would refuse to commit. Variables already set take precedence.
 */
export async function readAuthorEnvironment(
  repository: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Readonly<Record<string, string>>> {
  const command = ['--includes', '--get-regexp', '^(user|author|committer)\\.(name|email)$'];
  const settings = new Map(await listSettings(command, { cwd: repository, env: configOf(env) }));
  const variables = ['author', 'committer'].flatMap((part) => {
    const pairs = ['name', 'email'].map((field) => {
      const variable = `GIT_${part}_${field}`.toUpperCase();
      return [variable, env[variable] || settings.get(`${part}.${field}`) || settings.get(`user.${field}`)] as const;
    });
    // Both or neither: a name with an address derived from the host is no identity.
    return pairs.every(([, value]) => value) ? pairs : [];
  });
  return Object.fromEntries(variables.map(([name, value = '']) => [name, value]));
}

function configOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(CONFIG_FILES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

const CONFIG_FILES = ['HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'];

const TRIES = 20;
const PAUSE_MS = 25;
