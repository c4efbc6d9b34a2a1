import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiContext } from '../../github/call-api.ts';
import { isBatonVariable } from '../../protocol/environment.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import type { EffectContext } from '../context.ts';

export type GithubContext = Pick<
  EffectContext,
  'path' | 'ownRepository' | 'env' | 'readState' | 'submit' | 'log' | 'placeMutex'
>;

export function apiContext({ env, path }: Pick<EffectContext, 'env' | 'path'>, signal: AbortSignal): ApiContext {
  // `gh` needs the user's login, whichever variable holds it, but not the daemon's settings and secrets.
  const own = Object.entries(env).filter(([name]) => !isBatonVariable(name));
  return { env: Object.fromEntries(own), cwd: path, signal };
}

export type GithubOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem; readonly isPassing?: boolean };

/** Tries up to four times after a recoverable failure, 1, 2 and 4 s apart. */
export async function retryGithub<T>(
  attempt: () => Promise<GithubOutcome<T>>,
  signal: AbortSignal,
): Promise<GithubOutcome<T>> {
  for (const waitMs of [1000, 2000, 4000]) {
    const tried = await attempt();
    if (tried.ok || !isRetryable(tried) || signal.aborted) return tried;
    await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
  return attempt();
}

function isRetryable({ isPassing, problem }: Extract<GithubOutcome<unknown>, { ok: false }>): boolean {
  return isPassing === true || problem.code === 'git/remote-unreachable';
}

export function renderGithubProblem({ message, hint }: Problem): string {
  return hint === '' ? message : `${message}\n${hint}`;
}
