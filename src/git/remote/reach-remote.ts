import { operatorEnvironment, readOperatorConfig } from '../config.ts';
import { git, gitFailure, type GitFailure, type GitOptions, type GitOutput, type GitResult } from '../run-git.ts';
import type { OwnGitFolder } from '../run-git.ts';
import { checkRemoteUrl, hideCredentials } from './remote-url.ts';

export interface RemoteCall {
  readonly url: string;
  readonly command: readonly string[];
  readonly refs: readonly string[];
  readonly timeoutMs?: number;
  /** Exit codes that are results, not failures. */
  readonly answers?: readonly number[];
}

/**
 * Runs a git command against a remote with the operator's global configuration (credential helpers, proxies,
 * `url.*.insteadOf`) and SSH agent. Without a place it runs outside of any repository. Never asks a person, and no
 * message contains a login.
 */
export async function reachRemote(place: OwnGitFolder | undefined, call: RemoteCall): Promise<GitResult<GitOutput>> {
  const url = checkRemoteUrl(call.url);
  if (!url.ok) return url;
  const options: GitOptions = {
    cwd: place ?? '/',
    env: { ...(place === undefined ? OUTSIDE : {}), ...operatorEnvironment(), ...(await sshEnvironment()), ...QUIET },
    timeoutMs: call.timeoutMs ?? REMOTE_MS,
    ...(call.answers === undefined ? {} : { answers: call.answers }),
  };
  const reached = await git([...SETTINGS, ...call.command, '--', url.value, ...call.refs], options);
  return reached.ok ? reached : unreachable(url.value, reached);
}

/** Ignores the system's configuration, as in Baton's own repositories. */
const OUTSIDE = { GIT_CONFIG_NOSYSTEM: '1', GIT_CEILING_DIRECTORIES: '/' };

/** A URL rewritten by `insteadOf` must not name a program either. */
const QUIET = { GIT_ALLOW_PROTOCOL: 'http:https:ssh:git:file', GIT_TERMINAL_PROMPT: '0', SSH_ASKPASS_REQUIRE: 'never' };

/** Version 2 can fetch a commit by its id. */
const SETTINGS = ['-c', 'protocol.version=2', '-c', 'push.followTags=false', '-c', 'push.recurseSubmodules=no'];

const REMOTE_MS = 120_000;

/** Keeps ssh from asking for a password or about a host. A program other than ssh keeps its own options. */
async function sshEnvironment(env: NodeJS.ProcessEnv = process.env): Promise<Record<string, string>> {
  if (env['GIT_SSH'] !== undefined && env['GIT_SSH_COMMAND'] === undefined) return {};
  const command = env['GIT_SSH_COMMAND'] ?? (await readOperatorConfig()).get('core.sshcommand') ?? 'ssh';
  const isSsh = /^(?:\S*\/)?ssh(?:\s|$)/.test(command);
  return { GIT_SSH_COMMAND: isSsh ? `${command} -o BatchMode=yes` : command };
}

function unreachable(url: string, { problem }: GitFailure): GitFailure {
  if (/not our ref|unadvertised object|couldn't find remote ref/i.test(problem.message)) {
    const message = `the git remote ${hideCredentials(url)} does not have the commit: ${hideCredentials(problem.message)}`;
    return gitFailure('git/no-remote-ref', message, 'Push the commit again from the host that has it.');
  }
  const message = `the git remote ${hideCredentials(url)} does not answer: ${hideCredentials(problem.message)}`;
  const hint = `Check the remote by hand, without a password prompt: GIT_TERMINAL_PROMPT=0 git ls-remote ${hideCredentials(url)}`;
  return gitFailure(problem.code === 'git/disk' ? 'git/disk' : 'git/remote-unreachable', message, hint);
}
