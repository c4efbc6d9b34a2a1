import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiContext } from '../github/run-gh.ts';
import { isBatonVariable } from '../protocol/environment.ts';
import type { Problem } from '../protocol/problem.ts';
import type { World } from './world.ts';

/** What it takes to have a pull request. */
export type GithubWorld = Pick<World, 'path' | 'own' | 'env' | 'read' | 'tell' | 'log' | 'places'>;

/** How GitHub is reached from here. */
export function apiContext({ env, path }: Pick<World, 'env' | 'path'>, signal: AbortSignal): ApiContext {
  // `gh` needs the user's login, whichever variable holds it, but not the daemon's settings and secrets.
  const own = Object.entries(env).filter(([name]) => !isBatonVariable(name));
  return { env: Object.fromEntries(own), cwd: path, signal };
}

export type Tried<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem; readonly isPassing?: boolean };

/** What may pass by itself is tried four times, 1, 2 and 4 s apart, as everything that is recoverable. */
export async function tryAgain<T>(attempt: () => Promise<Tried<T>>, signal: AbortSignal): Promise<Tried<T>> {
  for (const waitMs of PAUSES_MS) {
    const tried = await attempt();
    if (tried.ok || !mayPass(tried) || signal.aborted) return tried;
    await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
  return attempt();
}

const PAUSES_MS = [1000, 2000, 4000];

function mayPass({ isPassing, problem }: Extract<Tried<unknown>, { ok: false }>): boolean {
  return isPassing === true || problem.code === 'git/remote-unreachable';
}

/** A problem as people read it in a decision: what happened, and what to do. */
export function inWords({ message, hint }: Problem): string {
  return hint === '' ? message : `${message}\n${hint}`;
}
