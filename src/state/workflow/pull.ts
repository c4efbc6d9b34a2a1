import type { Phase } from '../../protocol/phase.ts';
import { phaseMovedEvent } from '../tasks/end-claim.ts';
import { event, type Event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import { rulesFor, type Rules } from '../rules.ts';
import { excerptStart } from '../runs/excerpt.ts';
import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import { isOfOtherHead } from './checks.ts';
import { refuseMerge } from './merge.ts';
import type { WorkflowEvents } from './workflow-event.ts';

/** The branch is at GitHub, and its pull request is open. */
export type PublishPull = Omit<WorkflowEvents['PullRequestPublished'], 'pull_id' | 'task_id' | 'head' | 'watch'> & {
  readonly pullId: string;
};

/** Where the checks were faster, the task has waited for this. What was asked for before, and since asked for anew, changes nothing. */
export function decidePublishPull(state: State, { pullId, ...found }: PublishPull, rules: Rules): Outcome<null> {
  const task = findTaskOfPull(state, pullId);
  const pull = task?.flow.pull;
  if (task === undefined || !pull) return decided([], null);
  const { checks } = task.flow;
  const isOpen = checks !== null && checks.head === pull.head && checks.outcome === null;
  const watch = isOpen ? checks.plans.filter(({ run }) => run === undefined).map(({ name }) => name) : [];
  const about = { pull_id: pullId, task_id: task.id, head: pull.head, watch };
  return decided(
    [event('PullRequestPublished', { ...about, ...found }), ...afterPublishing(task, rulesFor(task, rules))],
    null,
  );
}

function afterPublishing(task: Task, { ciGate }: Rules): Event[] {
  const { checks, pull, mode } = task.flow;
  if (task.phase !== 'CI_PENDING' || isOfOtherHead(task, pull)) return [];
  if (checks?.head === pull?.head && checks?.outcome === 'passed')
    return [phaseMovedEvent(task, 'READY_FOR_REVIEW', { cause: 'checks', reason: 'all required checks passed' })];
  if (ciGate || mode === null) return [];
  return [
    phaseMovedEvent(task, 'READY_FOR_REVIEW', {
      cause: 'published',
      reason: 'the pull request is open; no checks are required',
    }),
  ];
}

export interface FailPull {
  readonly pullId: string;
  readonly reason: string;
}

/** It cannot be published, and a person must see why: the work is kept, and goes on from there when they say so. */
export function decideFailPull(state: State, { pullId, reason }: FailPull): Outcome<null> {
  const task = findTaskOfPull(state, pullId);
  if (task === undefined) return decided([], null);
  const failed = event('PullRequestFailed', { pull_id: pullId, task_id: task.id, reason: excerptStart(reason) });
  if (task.flow.merge !== null) return decided([failed, ...refuseMerge(task, task.flow.merge, reason)], null);
  // Whoever works on it is not kept from it: it is published anew when they have done.
  if (task.claim !== null || !PHASES_AWAITING_PULL.has(task.phase)) return decided([failed], null);
  return decided(
    [
      failed,
      phaseMovedEvent(task, 'BLOCKED', { cause: 'publish-failed', reason: `no pull request: ${excerptStart(reason)}` }),
    ],
    null,
  );
}

const PHASES_AWAITING_PULL: ReadonlySet<Phase> = new Set(['CI_PENDING', 'READY_FOR_REVIEW', 'READY_FOR_MERGE']);

export type ClosePull = Omit<WorkflowEvents['PullRequestClosed'], 'pull_id' | 'task_id'> & { readonly pullId: string };

export function decideClosePull(state: State, { pullId, ...closed }: ClosePull): Outcome<null> {
  const effect = [...state.effects.values()].find((each) => each.kind === 'close-pull' && each.pullId === pullId);
  if (effect?.kind !== 'close-pull') return decided([], null);
  return decided([event('PullRequestClosed', { pull_id: pullId, task_id: effect.taskId, ...closed })], null);
}

/** The task that waits for this to be published. */
function findTaskOfPull({ tasks }: State, pullId: string): Task | undefined {
  return [...tasks.values()].find(({ flow }) => flow.pull?.id === pullId && flow.pull.isWanted);
}
