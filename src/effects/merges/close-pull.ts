import { openPullRequestApi } from '../../github/pulls.ts';
import type { Command } from '../../state/decide.ts';
import type { Effect } from '../../state/runs/effect.ts';
import { apiContext, renderGithubProblem, type GithubContext } from './github.ts';

type ClosePullEffect = Extract<Effect, { kind: 'close-pull' }>;

/** Closes the pull request of a task that was cancelled, and says why there. While GitHub is out of reach it stays owed. */
export async function closePull(
  effect: ClosePullEffect,
  world: GithubContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const { pullId, taskId, repository, number, comment } = effect;
  const ended = (outcome: 'closed' | 'merged' | 'failed', reason: string | null): readonly Command[] => [
    { kind: 'close-pull', command: { pullId, number, outcome, reason } },
  ];
  return world.placeMutex.run(`pull:${taskId}`, async () => {
    if (signal.aborted) return [];
    const opened = openPullRequestApi(repository, apiContext(world, signal));
    if (!opened.ok) return ended('failed', renderGithubProblem(opened.problem));
    const pulls = opened.value;
    const found = await pulls.read(number);
    if (found.ok && found.value.isMerged) return ended('merged', null);
    if (found.ok && !found.value.isOpen) return ended('closed', null);
    const closed = found.ok ? await pulls.change(number, { state: 'closed' }) : found;
    if (!closed.ok) return closed.isPassing ? [] : ended('failed', renderGithubProblem(closed.problem));
    // After the deed: whoever is killed in between leaves a word out, and says none twice.
    await pulls.comment(number, comment);
    return ended('closed', null);
  });
}
