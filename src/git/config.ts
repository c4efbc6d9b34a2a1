import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './run-git.ts';

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
