import { fieldOf } from '../protocol/shape/read-unknown.ts';
import { type ApiContext, callApi, type GithubResult } from './call-api.ts';
import type { GithubRepository } from './find-github.ts';
import { findTextField } from './issues.ts';

export interface EndedCheck {
  readonly name: string;
  readonly outcome: ReturnType<typeof checkOutcome>;
  readonly conclusion: string;
  /** The app that reported it, as in `github-actions`. */
  readonly app: string;
  readonly url: string | null;
}

/** Reads the runs of a commit: see `listEndedChecks`. */
export async function readEndedChecks(
  { host, owner, name }: GithubRepository,
  sha: string,
  context: ApiContext,
): Promise<GithubResult<readonly EndedCheck[]>> {
  const lists: unknown[] = [];
  for (const [path, list] of [
    [`commits/${sha}/check-runs?filter=latest&per_page=100`, 'check_runs'],
    [`actions/runs?head_sha=${sha}&per_page=100`, 'workflow_runs'],
  ] as const) {
    const answer = await callApi({ host, method: 'GET', path: `repos/${owner}/${name}/${path}` }, context);
    if (!answer.ok) return answer;
    lists.push(fieldOf(answer.value, list));
  }
  return { ok: true, value: listEndedChecks(sha, lists) };
}

/**
 * The checks of each app, because anyone who may report a check can give it the name of another app's. If several runs
 * of an app have the same name, the newest counts, even if it still runs. A workflow takes precedence over a check with
 * its name. Of those of several apps it comes first.
 */
export function listEndedChecks(sha: string, lists: readonly unknown[]): readonly EndedCheck[] {
  const runs = lists.flatMap((list) => runsIn(list, sha).toSorted((a, b) => a.id - b.id));
  const newest = new Map(runs.map((run) => [`${run.app} ${run.name}`, run]));
  const ended = [...newest.values()].filter(({ isEnded }) => isEnded);
  return [...Map.groupBy(ended, ({ name }) => name).values()].flatMap((sameName) => sameName.toReversed());
}

interface Run extends EndedCheck {
  readonly id: number;
  readonly isEnded: boolean;
}

function runsIn(list: unknown, sha: string): Run[] {
  return (Array.isArray(list) ? (list as unknown[]) : []).flatMap((run) => {
    const [name, id] = [findTextField(run, 'name'), fieldOf(run, 'id')];
    if (name === null || typeof id !== 'number' || fieldOf(run, 'head_sha') !== sha) return [];
    const conclusion = findTextField(run, 'conclusion') ?? '';
    const isEnded = fieldOf(run, 'status') === 'completed';
    const url = findTextField(run, 'html_url');
    return [{ name, id, isEnded, outcome: checkOutcome(conclusion), conclusion, app: appOf(run), url }];
  });
}

/** Only GitHub's own Actions have workflow runs, which name no app. */
function appOf(run: unknown): string {
  return findTextField(fieldOf(run, 'app'), 'slug') ?? GITHUB_ACTIONS;
}

export const GITHUB_ACTIONS = 'github-actions';

/** Maps a GitHub conclusion to the CI gate's outcome. Unknown conclusions fail. */
export function checkOutcome(conclusion: unknown): 'passed' | 'failed' | 'cancelled' {
  return OUTCOMES.get(typeof conclusion === 'string' ? conclusion : '') ?? 'failed';
}

const OUTCOMES: ReadonlyMap<string, 'passed' | 'cancelled'> = new Map([
  ['success', 'passed'],
  ['neutral', 'passed'],
  ['skipped', 'passed'],
  ['cancelled', 'cancelled'],
  ['stale', 'cancelled'],
]);
