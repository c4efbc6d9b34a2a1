import type { Event, EventType } from '../event.ts';
import { type Effect, EFFECT_KEYS, effectKey, isStartEffect, isStopEffect } from './effect.ts';
import type { Runs } from './runs.ts';

type Effects = ReadonlyMap<string, Effect>;

/** Adds the effect that an entry requests, and removes those that it settles. Returns the removed ones. */
export function evolveEffects(
  { effects, agents }: Pick<Runs, 'effects' | 'agents'>,
  event: Event & { readonly seq: number },
): readonly Effect[] {
  const effect = effectOf(event);
  // A run can be ended after its agent's process has exited; then no process needs to be stopped.
  const ends = effect !== undefined && (effect.type === 'AgentKillRequested' || isStopEffect(effect));
  const isMoot = ends && agents.get(effect.data.agent_id)?.process === 'gone';
  if (effect !== undefined && !isMoot) effects.set(effect.key, effect);
  const settled: Effect[] = [];
  for (const key of keysSettledBy(effects, event)) {
    const done = effects.get(key);
    if (done === undefined) continue;
    effects.delete(key);
    settled.push(done);
  }
  return settled;
}

const KEYS: { readonly [T in EventType]?: (data: never) => string | undefined } = EFFECT_KEYS;

function effectOf({ type, data, seq }: Event & { readonly seq: number }): Effect | undefined {
  // The table has the key function of each type under its name, which the compiler cannot relate.
  const key = KEYS[type]?.(data as never); // oxlint-disable-line typescript/no-unsafe-type-assertion
  return key === undefined ? undefined : ({ key, seq, type, data } as Effect); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function keysSettledBy(effects: Effects, { type, data }: Event): readonly string[] {
  switch (type) {
    case 'AgentStarted':
      return [effectKey.start(data.agent_id, data.start)];
    case 'AgentStartFailed':
    case 'AgentExited':
      return [effectKey.start(data.agent_id, data.start), effectKey.kill(data.agent_id), effectKey.stop(data.agent_id)];
    case 'AgentKillRequested':
      // The kill also cancels a start that is still owed.
      return keysWhere(effects, (effect) => isStartEffect(effect) && effect.data.agent_id === data.agent_id);
    case 'AgentEnded':
      return [...messagesTo(effects, data.agent_id), effectKey.stop(data.agent_id)];
    case 'MessageDelivered':
      return [effectKey.message(data.message_id)];
    case 'CommandFinished':
    case 'CommandCancelled':
      return [effectKey.command(data.command_id)];
    case 'WorkspacePrepared':
      return keysWhere(
        effects,
        (effect) => effect.type === 'WorkspaceRequested' && effect.data.pipeline_id === data.pipeline_id,
      );
    case 'WorkspaceFailed':
    case 'StepFinished':
      return [effectKey.workspace(data.pipeline_id, data.step)];
    case 'TimerFired':
    case 'TimerCancelled':
      return [effectKey.timer(data.timer_id)];
    case 'DecisionAnswerWithdrawn':
    case 'DecisionResolved':
    case 'DecisionWithdrawn':
      return [effectKey.answer(data.decision_id)];
    case 'NotificationSent':
      return [effectKey.notification(data.notification_id)];
    case 'ChecksFinished':
      return [effectKey.checks(data.checks_id), effectKey.watch(data.task_id)];
    case 'ChecksRequested':
      return otherChecksOf(effects, data);
    case 'MergeHeld':
      return [effectKey.merge(data.merge_id)];
    case 'MergeFinished':
      return [effectKey.merge(data.merge_id), ...(data.outcome === 'merged' ? [effectKey.watch(data.task_id)] : [])];
    case 'PullRequestRequested':
    case 'PullRequestCloseRequested':
      return [effectKey.watch(data.task_id), ...otherPullsOf(effects, data)];
    case 'PullRequestPublished':
    case 'PullRequestFailed':
      return [effectKey.publish(data.pull_id)];
    case 'PullRequestClosed':
      return [effectKey.close(data.pull_id)];
    case 'GithubIssueClosed':
      return [effectKey.issue(data.close_id)];
    case 'PlaceCleared':
      return [effectKey.clear(data.task_id)];
    case 'TaskReinstated':
      // The next session of the task works in its worktree, and its issue is not closed.
      return [effectKey.clear(data.task_id), ...issueClosingsOf(effects, data.task_id)];
    case 'LedgerSealed':
      return keysWhere(effects, (effect) => effect.type === 'PhaseMoved' && effect.seq <= data.size);
    default:
      return [];
  }
}

/** Older checks, because only those of a task's newest head are needed. */
function otherChecksOf(
  effects: Effects,
  { task_id, checks_id }: { readonly task_id: string; readonly checks_id: string },
) {
  return keysWhere(
    effects,
    ({ type, data }) => type === 'ChecksRequested' && data.task_id === task_id && data.checks_id !== checks_id,
  );
}

/** Older requests, because a newer request to publish or close a pull request replaces them. */
function otherPullsOf(effects: Effects, { task_id, pull_id }: { readonly task_id: string; readonly pull_id: string }) {
  return keysWhere(
    effects,
    ({ type, data }) =>
      (type === 'PullRequestRequested' || type === 'PullRequestCloseRequested') &&
      data.task_id === task_id &&
      data.pull_id !== pull_id,
  );
}

function issueClosingsOf(effects: Effects, taskId: string): string[] {
  return keysWhere(effects, ({ type, data }) => type === 'GithubIssueCloseRequested' && data.task_id === taskId);
}

function messagesTo(effects: Effects, agentId: string): string[] {
  return keysWhere(effects, ({ type, data }) => type === 'MessageRequested' && data.agent_id === agentId);
}

function keysWhere(effects: Effects, fits: (effect: Effect) => boolean): string[] {
  return [...effects.values()].filter(fits).map(({ key }) => key);
}
