import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { git, gitFailure, type GitResult } from './run-git.ts';

/** Settings by name, as git prints names: section and key in lower case, what stands between as it was written. */
export type OperatorConfig = ReadonlyMap<string, string>;

/**
 * The git configuration of the person who runs Baton: their global file and the system's, and no repository's. Agents can write in a
 * repository's configuration, so nothing that names a program or a person is read from there.
 */
export async function readOperatorConfig(env: NodeJS.ProcessEnv = process.env): Promise<OperatorConfig> {
  const key = JSON.stringify([env['GIT_CONFIG_GLOBAL'], env['HOME'], env['XDG_CONFIG_HOME']]);
  if (cached?.key !== key || cached.untilMs < performance.now())
    cached = { key, config: readNow(), untilMs: performance.now() + FRESH_MS };
  return cached.config;
}

/** One merge or measurement asks several times. */
const FRESH_MS = 2000;
let cached: { readonly key: string; readonly config: Promise<OperatorConfig>; readonly untilMs: number } | undefined;

async function readNow(): Promise<OperatorConfig> {
  // With a git folder that is none, git finds no repository, wherever it is run.
  const listed = await git(['config', '--list', '--includes', '-z'], { cwd: '/', env: { GIT_DIR: '/dev/null' } });
  if (!listed.ok) return new Map();
  const settings = listed.value.stdout.split('\0').filter((each) => each !== '');
  return new Map(
    settings.map((each): [string, string] => {
      const end = each.indexOf('\n');
      // A key without a value is true.
      return end === -1 ? [each, 'true'] : [each.slice(0, end), each.slice(end + 1)];
    }),
  );
}

/** Some of the settings, as arguments of git. */
export function settingArguments(config: OperatorConfig, isWanted: (name: string) => boolean): string[] {
  return [...config].filter(([name]) => isWanted(name)).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * How line ends are written and read if no attribute says so, and the programs of filters: all that the operator has in their own
 * configuration, as in a checkout of theirs, or only those that are named.
 */
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

/** The author or committer of what Baton commits: the operator, or Baton if git knows no operator. */
export function operatorIdentity(
  part: 'author' | 'committer',
  config: OperatorConfig,
  env: NodeJS.ProcessEnv = process.env,
): GitIdentity {
  const variable = `GIT_${part.toUpperCase()}`;
  const name = env[`${variable}_NAME`] ?? config.get(`${part}.name`) ?? config.get('user.name');
  const email = env[`${variable}_EMAIL`] ?? config.get(`${part}.email`) ?? config.get('user.email');
  return name === undefined || email === undefined || name === '' || email === ''
    ? { name: 'Baton', email: 'baton@localhost' }
    : { name, email };
}

/** How the operator signs commits, as arguments of git; undefined if they do not. */
export function signingArguments(config: OperatorConfig): readonly string[] | undefined {
  if (!/^(?:true|yes|on|1)$/i.test(config.get('commit.gpgsign') ?? '')) return undefined;
  return settingArguments(config, (name) => name === 'user.signingkey' || name.startsWith('gpg.'));
}

/** For git in Baton's own repository, if it must reach another host: how to log in is in the operator's own configuration. */
export function operatorEnvironment({ HOME = '', ...env }: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const xdg = env['XDG_CONFIG_HOME'] ?? join(HOME, '.config');
  const files = [join(HOME, '.gitconfig'), join(xdg, 'git', 'config')];
  const file = env['GIT_CONFIG_GLOBAL'] ?? files.find((path) => existsSync(path)) ?? '/dev/null';
  return { HOME, XDG_CONFIG_HOME: xdg, GIT_CONFIG_GLOBAL: file };
}

/** One setting, from where `scope` says; null where it is not set. */
export async function readConfig(
  cwd: string,
  scope: readonly string[],
  name: string,
): Promise<GitResult<string | null>> {
  const value = await git(['config', ...scope, '--get', name], { cwd, answers: [1] });
  if (!value.ok) return value;
  return { ok: true, value: value.value.code === 1 ? null : value.value.stdout.replace(/\n$/, '') };
}

const TRIES = 20;
const PAUSE_MS = 25;

/** Changes the configuration. Git locks the file and does not wait; others change it too, and only for a moment. */
export async function changeConfig(cwd: string, args: readonly string[]): Promise<GitResult<void>> {
  for (let tries = 1; ; tries++) {
    // 5: nothing was there to unset.
    const changed = await git(['config', ...args], { cwd, answers: [5] });
    if (changed.ok) return { ok: true, value: undefined };
    if (tries === TRIES || !/could not lock/.test(changed.problem.message)) return changed;
    await sleep(PAUSE_MS);
  }
}

/**
 * Lets each worktree have its own configuration. Two settings then move to the main worktree's own file, as git's
 * documentation of `extensions.worktreeConfig` asks: otherwise every worktree would take them for its own.
 */
export async function enableWorktreeConfig(commonDir: string): Promise<GitResult<void>> {
  const common = ['--file', join(commonDir, 'config')];
  const main = ['--file', join(commonDir, 'config.worktree')];
  const enabled = await readConfig(commonDir, [...common, '--type=bool'], 'extensions.worktreeConfig');
  if (!enabled.ok || enabled.value === 'true') return enabled.ok ? { ok: true, value: undefined } : enabled;
  const bare = await readConfig(commonDir, [...common, '--type=bool'], 'core.bare');
  if (!bare.ok) return bare;
  const tree = await readConfig(commonDir, common, 'core.worktree');
  if (!tree.ok) return tree;
  const changes = [
    ...(bare.value === 'true' ? [[...main, 'core.bare', 'true']] : []),
    ...(tree.value === null ? [] : [[...main, 'core.worktree', tree.value]]),
    [...common, 'extensions.worktreeConfig', 'true'],
    ...(bare.value === 'true' ? [[...common, '--unset-all', 'core.bare']] : []),
    ...(tree.value === null ? [] : [[...common, '--unset-all', 'core.worktree']]),
  ];
  for (const change of changes) {
    const changed = await changeConfig(commonDir, change);
    if (!changed.ok) return changed;
  }
  return { ok: true, value: undefined };
}

/**
 * What the configuration of a repository says about its files: whether the file system has mode bits and links, whether it tells upper case
 * from lower case, and how line ends are written. As arguments of git. None of these settings names a program; values that git does not
 * know are left out.
 */
export async function readFileSettings(checkout: string): Promise<string[]> {
  const asked = String.raw`^core\.(filemode|symlinks|ignorecase|autocrlf|eol)$`;
  const listed = await git(['config', '-z', '--get-regexp', asked], { cwd: checkout, answers: [1] });
  if (!listed.ok) return [];
  return listed.value.stdout.split('\0').flatMap((setting) => {
    const end = setting.indexOf('\n');
    const name = end === -1 ? setting : setting.slice(0, end);
    // A key without a value is true.
    const value = end === -1 ? 'true' : setting.slice(end + 1).toLowerCase();
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

/** The address of a remote, for a git that runs elsewhere. Of the remote's settings only this one is read: others name programs. */
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
  return gitFailure('git/remote-unreachable', `there is no remote '${remote}'`, 'See them all: git remote -v');
}

/** Git takes for a path what has no scheme, and no host before a colon. */
export function isPath(url: string): boolean {
  return !/^[a-z0-9+]+:\/\//i.test(url) && !/^[^/]*:/.test(url);
}

/**
 * Who commits in the sessions of a repository, as variables: what git itself would take for the operator there. Some clients run git
 * without the user's configuration, and then it refuses to commit. Variables that the daemon has pass by themselves, and stay.
 */
export async function readAuthorEnvironment(
  repository: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Readonly<Record<string, string>>> {
  const listed = await git(['config', '--includes', '-z', '--get-regexp', '^(user|author|committer)\\.(name|email)$'], {
    cwd: repository,
    env: configOf(env),
    answers: [1],
  });
  if (!listed.ok) return {};
  const settings = new Map(
    listed.value.stdout
      .split('\0')
      .filter((each) => each.includes('\n'))
      .map((each): [string, string] => [each.slice(0, each.indexOf('\n')), each.slice(each.indexOf('\n') + 1)]),
  );
  return { ...person('AUTHOR', 'author', settings, env), ...person('COMMITTER', 'committer', settings, env) };
}

/** Both or neither: a name with an address that git derives from the host is not an identity. */
function person(
  variable: string,
  section: string,
  settings: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const [nameOf, emailOf] = [`GIT_${variable}_NAME`, `GIT_${variable}_EMAIL`];
  const name = env[nameOf] || settings.get(`${section}.name`) || settings.get('user.name');
  const email = env[emailOf] || settings.get(`${section}.email`) || settings.get('user.email');
  return name && email ? { [nameOf]: name, [emailOf]: email } : {};
}

/** The user's own files, as their shell finds them. */
function configOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of CONFIG_FILES) {
    const value = env[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

const CONFIG_FILES = ['HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'];
