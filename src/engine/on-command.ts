import type { Event, EventOf } from '../state/event.ts';
import { finishStep } from './finish-step.ts';
import { afterGate } from './gate.ts';
import type { EngineContext } from './context.ts';

/** On `CommandFinished`: a step has run, or a gate was tried. */
export function onCommand(world: EngineContext, data: EventOf<'CommandFinished'>['data']): Event[] {
  const { subject, exit_code, timed_out, output } = data;
  if (subject.kind === 'gate') {
    const agent = world.state.agents.get(subject.agent_id);
    return agent === undefined ? [] : afterGate(world, agent, subject, data);
  }
  const run = world.state.pipelines.get(subject.pipeline_id);
  if (run?.step?.commandId !== data.command_id) return [];
  if (exit_code === 0 && !timed_out) return finishStep(world, run, { outcome: 'done', reason: null, output });
  const reason = timed_out ? 'timed out' : `exit code ${exit_code ?? 'unknown'}`;
  return finishStep(world, run, { outcome: 'failed', reason, output });
}
