import { mkdirSync } from 'node:fs';
import { batonShim } from '../agents/prepare-agent.ts';
import { writeWhole } from '../api/write-whole.ts';
import { renderTemplate } from '../protocol/render-template.ts';
import type { Effect } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';
import { commandFiles, type Exit, type Launch } from '../supervisor/contract.ts';
import type { Programs } from '../supervisor/programs.ts';
import { untilEnded, untilStarted } from './follow-start.ts';
import { ownerFile } from './owner-file.ts';
import { markOfCommand, settleLost } from './settle-lost.ts';
import { spawnSupervisor, type Spawned } from './spawn-supervisor.ts';
import { findSupervised } from './supervised.ts';
import { contextOfAgent, contextOfStep } from './template-context.ts';
import { within, workplaceOf } from './workplace.ts';
import type { World } from './world.ts';

export type RunCommand = Extract<Effect, { kind: 'run-command' }>;

export interface CommandEnd {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly output: string | null;
}

/** Commands are started once: there is no second try under the same id. */
export const ONLY_START = 1;

/**
 * Runs a shell step or a gate under a supervisor, so that it is run once however often the daemon is started meanwhile, and so that
 * it holds nothing up. Undefined where somebody else has said how it went, or nobody wants to know any more.
 */
export async function runCommand(
  effect: RunCommand,
  world: World,
  signal: AbortSignal,
): Promise<CommandEnd | undefined> {
  const files = commandFiles(world.stateDir, effect.commandId);
  let spawned: Spawned | undefined;
  if (findSupervised(files, ONLY_START).kind === 'untaken') {
    const started = await start(effect, world, signal);
    if (started === undefined || 'exitCode' in started) return started;
    spawned = started;
  }
  const settling = await untilEnded({ files, start: ONLY_START, spawned, signal });
  if (settling === undefined) return undefined;
  const { found, words } = settling;
  if (found.kind === 'ended') return endOf(found.exit);
  if (found.kind === 'untaken') return failed(`the supervisor did not start: ${words ?? 'it has gone'}`);
  const exit = await settleLost({ files, start: ONLY_START, mark: markOfCommand(effect.commandId) });
  return endOf({ ...exit, output: exit.output ?? 'its supervisor was killed' });
}

/** Starts it, and waits until it runs; or says why that is not possible. */
async function start(effect: RunCommand, world: World, signal: AbortSignal): Promise<Spawned | CommandEnd | undefined> {
  const files = commandFiles(world.stateDir, effect.commandId);
  const programs = await world.programs();
  return world.starts.pass(async () => {
    const wanted = await world.read((state) => gather(state, effect, world));
    if (wanted === undefined || signal.aborted) return undefined;
    if (!wanted.ok) return failed(wanted.reason);
    mkdirSync(files.folder, { recursive: true, mode: 0o700 });
    writeWhole(ownerFile(files.folder), world.projectId);
    const spawned = spawnSupervisor(files, launchOf(effect, wanted, world, programs), { programs, env: world.env });
    await untilStarted({ files, start: ONLY_START, spawned, signal }, world.times.startMs);
    return spawned;
  });
}

function failed(output: string): CommandEnd {
  return { exitCode: null, timedOut: false, output };
}

function endOf({ code, timed_out, output }: Exit): CommandEnd {
  return { exitCode: code, timedOut: timed_out, output };
}

type Wanted =
  | { readonly ok: true; readonly command: string; readonly cwd: string }
  | { readonly ok: false; readonly reason: string };

function gather(state: State, { subject, command }: RunCommand, { path, env }: World): Wanted | undefined {
  const run = subject.kind === 'gate' ? state.agents.get(subject.agent_id) : undefined;
  const pipeline = subject.kind === 'step' ? state.pipelines.get(subject.pipeline_id) : undefined;
  if (subject.kind === 'step' ? pipeline === undefined : run === undefined) return undefined;
  const context =
    pipeline !== undefined && subject.kind === 'step'
      ? contextOfStep(state, pipeline, subject.step, env)
      : run === undefined
        ? {}
        : contextOfAgent(state, run, env);
  const rendered = renderTemplate(command, context, { quote: 'shell' });
  if (!rendered.ok) return { ok: false, reason: rendered.problems.map(({ message }) => message).join('; ') };
  const place = workplaceOf(state, pipeline?.id ?? run?.owner?.pipelineId, path);
  return { ok: true, command: rendered.value, cwd: within(place, run?.plan.cwd) };
}

function launchOf(
  { commandId, timeoutMs }: RunCommand,
  { command, cwd }: Extract<Wanted, { ok: true }>,
  { stateDir, times, supervisorToken }: World,
  programs: Programs,
): Launch {
  const files = commandFiles(stateDir, commandId);
  return {
    v: 1,
    kind: 'command',
    id: commandId,
    start: ONLY_START,
    argv: ['/bin/sh', '-c', command],
    cwd,
    env: {},
    output: 'text',
    input: 'none',
    prompt: null,
    timeout_ms: timeoutMs,
    kill_after_ms: times.killAfterMs,
    idle_ms: null,
    renew_ms: null,
    log_bytes: times.logBytes,
    finds_exit_signals: false,
    token: supervisorToken(commandId),
    // What a person's runbook runs, it runs for them.
    agent_token: '',
    owes: [],
    state_dir: stateDir,
    files: [batonShim(files.bin, programs)],
  };
}
