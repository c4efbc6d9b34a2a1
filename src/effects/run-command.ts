import { renderTemplate } from '../protocol/render-template.ts';
import type { Effect } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';
import { superviseCommand, type CommandEnd, type Prepared } from './supervise-command.ts';
import { contextOfAgent, contextOfStep } from './template-context.ts';
import { within, workplaceOf } from './workplace.ts';
import type { World } from './world.ts';

export type RunCommand = Extract<Effect, { kind: 'run-command' }>;

/** Runs a shell step or a gate. Undefined where somebody else has said how it went, or nobody wants to know any more. */
export async function runCommand(
  effect: RunCommand,
  world: World,
  signal: AbortSignal,
): Promise<CommandEnd | undefined> {
  const prepare = async (): Promise<Prepared | undefined> => world.read((state) => gather(state, effect, world));
  return superviseCommand(effect.commandId, prepare, world, signal);
}

function gather(state: State, { subject, command, timeoutMs }: RunCommand, world: World): Prepared | undefined {
  const run = subject.kind === 'gate' ? state.agents.get(subject.agent_id) : undefined;
  const pipeline = subject.kind === 'step' ? state.pipelines.get(subject.pipeline_id) : undefined;
  if (subject.kind === 'step' ? pipeline === undefined : run === undefined) return undefined;
  const context =
    pipeline !== undefined && subject.kind === 'step'
      ? contextOfStep(state, pipeline, subject.step, world)
      : run === undefined
        ? {}
        : contextOfAgent(state, run, world);
  const rendered = renderTemplate(command, context, { quote: 'shell' });
  if (!rendered.ok) return { ok: false, reason: rendered.problems.map(({ message }) => message).join('; ') };
  const place = workplaceOf(state, pipeline?.id ?? run?.owner?.pipelineId, world.path);
  return { ok: true, shell: { command: rendered.value, cwd: within(place, run?.plan.cwd), timeoutMs } };
}
