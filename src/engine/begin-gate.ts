import { event, type Event } from '../state/event.ts';
import { pipelinesAround } from '../state/runs/accounts.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { Decision } from '../state/runs/decision.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import type { State } from '../state/state.ts';
import { findQueued, runStep } from './steps.ts';
import type { EngineContext } from './context.ts';

/** On the end of a process: steps that waited for it begin. Those that start an agent begin when there is room: see `fill-room`. */
export function beginStepsAfterExit(world: EngineContext, agent: AgentRun): Event[] {
  const { state } = world;
  if (agent.outcome === null || agent.process !== 'gone') return [];
  const waiting = pipelinesAround(state, agent).filter((run) => run.outcome === null);
  return waiting.filter((run) => findQueued(state, run) === undefined).flatMap((run) => runStep(world, run));
}

/** On the answer to a question about a run that is over: what waited for the answer begins, or is cancelled. */
export function beginStepsAfterAnswer(world: EngineContext, decision: Decision, isCancelled: boolean): Event[] {
  const { state } = world;
  const waiting = pipelinesOf(state, decision).filter((run) => run.outcome === null);
  if (!isCancelled) return waiting.flatMap((run) => runStep(world, run));
  const outermost = waiting.at(-1);
  const reason = 'decision: cancel: a budget was overspent';
  return outermost === undefined ? [] : [event('PipelineCancelRequested', { pipeline_id: outermost.id, reason })];
}

function pipelinesOf(state: State, { pipelineId }: Decision): readonly PipelineRun[] {
  return pipelineId === null ? [] : pipelinesAround(state, { owner: { pipelineId, step: '' } });
}
