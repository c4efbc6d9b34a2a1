import type { EventOf, EventType } from '../event.ts';
import type { TimerPurpose } from './run-event.ts';

export type { EffectSubject, TimerPurpose } from './run-event.ts';

/** The keys under which effects are owed; a retry has the same key. */
export const effectKey = {
  start: (agentId: string, start: number) => `start:${agentId}:${start}`,
  message: (messageId: string) => `message:${messageId}`,
  kill: (agentId: string) => `kill:${agentId}`,
  stop: (agentId: string) => `stop:${agentId}`,
  command: (commandId: string) => `command:${commandId}`,
  workspace: (pipelineId: string, step: string) => `workspace:${pipelineId}:${step}`,
  timer: (timerId: string) => `timer:${timerId}`,
  notification: (id: string) => `notification:${id}`,
  checks: (id: string) => `checks:${id}`,
  merge: (id: string) => `merge:${id}`,
  publish: (id: string) => `publish:${id}`,
  close: (id: string) => `close:${id}`,
  clear: (taskId: string) => `clear:${taskId}`,
  issue: (id: string) => `issue:${id}`,
  watch: (taskId: string) => `watch:${taskId}`,
  answer: (decisionId: string) => `answer:${decisionId}`,
  seal: 'seal',
} as const;

/** The entries that request an effect, and the key under which it is owed; undefined if this entry requests none. */
export const EFFECT_KEYS = {
  AgentRequested: ({ agent_id }) => effectKey.start(agent_id, 1),
  AgentResumeRequested: ({ agent_id, start }) => effectKey.start(agent_id, start),
  MessageRequested: ({ message_id }) => effectKey.message(message_id),
  AgentKillRequested: ({ agent_id }) => effectKey.kill(agent_id),
  /** The previous process stops, and the run continues. */
  AgentAttachRequested: ({ agent_id }) => effectKey.stop(agent_id),
  AgentRestartRequested: ({ agent_id }) => effectKey.stop(agent_id),
  CommandRequested: ({ command_id }) => effectKey.command(command_id),
  WorkspaceRequested: ({ pipeline_id, step }) => effectKey.workspace(pipeline_id, step),
  TimerSet: ({ timer_id }) => effectKey.timer(timer_id),
  DecisionAnswered: ({ decision_id }) => effectKey.answer(decision_id),
  NotificationRequested: ({ notification_id }) => effectKey.notification(notification_id),
  /** For checks that another system runs, there is nothing to perform. */
  ChecksRequested: ({ checks_id, checks }) =>
    checks.some(({ run }) => run !== undefined) ? effectKey.checks(checks_id) : undefined,
  MergeRequested: ({ merge_id }) => effectKey.merge(merge_id),
  PullRequestRequested: ({ pull_id }) => effectKey.publish(pull_id),
  /** The checks that GitHub runs are polled, because not every project has a webhook. */
  PullRequestPublished: ({ task_id, watch }) => (watch.length === 0 ? undefined : effectKey.watch(task_id)),
  PullRequestCloseRequested: ({ pull_id }) => effectKey.close(pull_id),
  GithubIssueCloseRequested: ({ close_id }) => effectKey.issue(close_id),
  PlaceClearRequested: ({ task_id }) => effectKey.clear(task_id),
  /** The end of a workflow is sealed: the phase is COMPLETED, and no role is next. */
  PhaseMoved: ({ from, to, next_role }) =>
    from === 'COMPLETED' && to === 'COMPLETED' && next_role === null ? effectKey.seal : undefined,
} as const satisfies { readonly [T in EventType]?: (data: EventOf<T>['data']) => string | undefined };

export type EffectType = keyof typeof EFFECT_KEYS;

/** An entry that requests work outside the ledger, until another records its outcome. Performed once under its key. */
export type Effect = { [T in EffectType]: EffectOf<T> }[EffectType];

export interface EffectOf<T extends EffectType> extends EventOf<T> {
  readonly key: string;
  readonly seq: number;
}

export function findTimers(
  { effects }: { readonly effects: ReadonlyMap<string, Effect> },
  fits: (purpose: TimerPurpose) => boolean,
): readonly EffectOf<'TimerSet'>[] {
  const found: EffectOf<'TimerSet'>[] = [];
  for (const effect of effects.values())
    if (effect.type === 'TimerSet' && fits(effect.data.purpose)) found.push(effect);
  return found;
}

/** Checks and merges are work too, although no agent runs. */
export function countGates({ effects }: { readonly effects: ReadonlyMap<string, Effect> }): number {
  return [...effects.values()].filter(({ type }) => type === 'ChecksRequested' || type === 'MergeRequested').length;
}

export function findEffect<T extends EffectType>(
  { effects }: { readonly effects: ReadonlyMap<string, Effect> },
  type: T,
  key: string,
): EffectOf<T> | undefined {
  const effect = effects.get(key);
  return effect?.type === type ? (effect as EffectOf<T>) : undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

type StartEffect = EffectOf<'AgentRequested'> | EffectOf<'AgentResumeRequested'>;
type StopEffect = EffectOf<'AgentAttachRequested'> | EffectOf<'AgentRestartRequested'>;

export function isStartEffect(effect: Effect): effect is StartEffect {
  return effect.type === 'AgentRequested' || effect.type === 'AgentResumeRequested';
}

export function isStopEffect(effect: Effect): effect is StopEffect {
  return effect.type === 'AgentAttachRequested' || effect.type === 'AgentRestartRequested';
}

export function processNumber({ type, data }: StartEffect | StopEffect): number {
  if (type === 'AgentRequested') return 1;
  return type === 'AgentAttachRequested' ? data.start - 1 : data.start;
}
