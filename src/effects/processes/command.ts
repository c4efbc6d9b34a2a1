import { renderTemplate } from '../../protocol/text/render-template.ts';
import type { Effect } from '../../state/runs/effect.ts';
import type { State } from '../../state/state.ts';
import { superviseCommand, type CommandEnd, type PreparedCommand } from './supervise-command.ts';
import { agentContext, stepContext } from '../template-context.ts';
import { resolveWithin, workplaceOf } from '../sessions/workplace.ts';
import type { EffectContext } from '../context.ts';

export type RunCommandEffect = Extract<Effect, { kind: 'run-command' }>;

/** Runs a shell step or a gate. Undefined where somebody else has said how it went, or nobody wants to know any more. */
export async function runCommand(
  effect: RunCommandEffect,
  world: EffectContext,
  signal: AbortSignal,
): Promise<CommandEnd | undefined> {
  const prepare = async (): Promise<PreparedCommand | undefined> =>
    world.readState((state) => selectCommand(state, effect, world));
  return superviseCommand(effect.commandId, prepare, world, signal);
}

function selectCommand(
  state: State,
  { subject, command, timeoutMs }: RunCommandEffect,
  world: EffectContext,
): PreparedCommand | undefined {
  const run = subject.kind === 'gate' ? state.agents.get(subject.agent_id) : undefined;
  const pipeline = subject.kind === 'step' ? state.pipelines.get(subject.pipeline_id) : undefined;
  if (subject.kind === 'step' ? pipeline === undefined : run === undefined) return undefined;
  const context =
    pipeline !== undefined && subject.kind === 'step'
      ? stepContext(state, pipeline, subject.step, world)
      : run === undefined
        ? {}
        : agentContext(state, run, world);
  const rendered = renderTemplate(command, context, { quote: 'shell' });
  if (!rendered.ok) return { ok: false, reason: rendered.problems.map(({ message }) => message).join('; ') };
  const place = workplaceOf(state, pipeline?.id ?? run?.owner?.pipelineId, world.path);
  return { ok: true, shell: { command: rendered.value, cwd: resolveWithin(place, run?.plan.cwd), timeoutMs } };
}
