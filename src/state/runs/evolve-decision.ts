import type { EventOf, RecordedEvent } from '../event.ts';
import type { Decision } from './decision.ts';

type Envelope = Pick<RecordedEvent, 'seq' | 'at' | 'actor'>;

export function openDecision({ data, at }: EventOf<'DecisionOpened'> & Envelope): Decision {
  return {
    id: data.decision_id,
    source: data.source,
    title: data.title,
    context: data.context,
    options: data.options,
    agentId: data.agent_id,
    pipelineId: data.pipeline_id,
    taskId: data.task_id,
    scope: data.scope ?? null,
    adopts: data.adopts ?? null,
    branch: data.branch ?? null,
    ...(data.until_heard === true ? { untilHeard: true as const } : {}),
    openedAt: at,
    result: null,
    over: null,
  };
}

export function evolveResolved(
  decision: Decision,
  { data, seq, at, actor }: EventOf<'DecisionResolved'> & Envelope,
): Decision {
  const { option, action, message } = data;
  return { ...decision, over: seq, result: { kind: 'resolved', option, action, by: actor, at, message } };
}

export function evolveWithdrawn(
  decision: Decision,
  { data, seq, at }: EventOf<'DecisionWithdrawn'> & Envelope,
): Decision {
  return { ...decision, over: seq, result: { kind: 'withdrawn', at, reason: data.reason } };
}
