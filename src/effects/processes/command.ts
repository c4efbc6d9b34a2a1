import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { batonShim } from '../../agents/prepare-agent.ts';
import { readFileIfPresent, writeFileAtomically } from '../../api/files.ts';
import { removeTree } from '../../api/remove-tree.ts';
import type { Exit } from '../../protocol/agent-report.ts';
import { renderTemplate } from '../../protocol/text/render-template.ts';
import type { Events } from '../../state/event.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import { commandFiles, type Launch } from '../../supervisor/contract.ts';
import type { Programs } from '../../supervisor/programs.ts';
import { sendControl } from '../agents/control.ts';
import type { EffectContext } from '../context.ts';
import { type CommandPlace, confineCommand } from '../sandbox/confine-command.ts';
import { layersOf } from '../sandbox/own-folders.ts';
import { resolveWithin, workplaceOf } from '../sessions/workplace.ts';
import { agentContext, stepContext } from '../template-context.ts';
import { commandMark, endLostRun } from './settle-lost.ts';
import { inspectSupervised, ownerFile } from './supervised.ts';
import { preventStart, refuseWithoutRoom, type SpawnedSupervisor, startSupervisor, waitForEnd } from './supervisor.ts';

type CommandRequest = Events['CommandRequested'];

/** Runs a shell step or a gate. Undefined if it was cancelled, or if its supervisor has reported the outcome. */
export async function runCommand(
  request: CommandRequest,
  context: EffectContext,
  signal: AbortSignal,
): Promise<CommandEnd | undefined> {
  const keptIn = join(layersOf(commandFiles(context.stateDir, request.command_id).folder), 'fetched');
  const prepare = async (): Promise<PreparedCommand | undefined> => {
    const selected = await context.readState((state) => selectCommand(state, request, context));
    if (selected === undefined || !selected.ok || selected.gate === undefined) return selected;
    const { folder, task } = selected.gate;
    const wish = { task, sha: task?.flow.head ?? null, keptIn, isAwaited: true };
    const cache = { lowers: await context.cachesFor(wish, context, signal) };
    return { ok: true, shell: { ...selected.shell, sandbox: { folder, kind: 'checks', task, cache } } };
  };
  return superviseCommand(request.command_id, prepare, context, signal);
}

type SelectedCommand =
  | Extract<PreparedCommand, { ok: false }>
  | {
      readonly ok: true;
      readonly shell: ShellCommand;
      /** A gate runs where its agent works. */
      readonly gate?: { readonly folder: string; readonly task: Task | null };
    };

function selectCommand(
  state: State,
  { subject, command, timeout_ms: timeoutMs }: CommandRequest,
  context: EffectContext,
): SelectedCommand | undefined {
  const run = subject.kind === 'gate' ? state.agents.get(subject.agent_id) : undefined;
  const pipeline = subject.kind === 'step' ? state.pipelines.get(subject.pipeline_id) : undefined;
  if (subject.kind === 'step' ? pipeline === undefined : run === undefined) return undefined;
  const templates =
    pipeline !== undefined && subject.kind === 'step'
      ? stepContext(state, pipeline, subject.step, context)
      : run === undefined
        ? {}
        : agentContext(state, run, context);
  const rendered = renderTemplate(command, templates, { quote: 'shell' });
  if (!rendered.ok) return { ok: false, reason: rendered.problems.map(({ message }) => message).join('; ') };
  const place = workplaceOf(state, pipeline?.id ?? run?.owner?.pipelineId, context.path);
  const shell = { command: rendered.value, cwd: resolveWithin(place, run?.plan.cwd), timeoutMs };
  if (run === undefined) return { ok: true, shell };
  const task = state.tasks.get(run.task?.task_id ?? '') ?? null;
  return { ok: true, shell, gate: { folder: place, task } };
}

interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Variables of the daemon besides the default list. Defaults to those that the runbook names. */
  readonly envPass?: readonly string[];
  /** The log starts with the names of the variables that were not passed. */
  readonly namesDropped?: true;
  readonly timeoutMs: number | null;
  /** Absent for a step of a pipeline, which the operator wrote and which may publish or deploy. */
  readonly sandbox?: CommandPlace;
}

export type CommandEnd = Pick<Events['CommandFinished'], 'exit_code' | 'timed_out' | 'output' | 'sandbox'>;

export type PreparedCommand =
  | { readonly ok: true; readonly shell: ShellCommand }
  | { readonly ok: false; readonly reason: string };

const COMMAND_START = 1;

/** Runs a command once across daemon restarts, and `prepare` only before its first start. Undefined if cancelled. */
export async function superviseCommand(
  id: string,
  prepare: () => Promise<PreparedCommand | undefined>,
  context: EffectContext,
  signal: AbortSignal,
): Promise<CommandEnd | undefined> {
  const files = commandFiles(context.stateDir, id);
  let spawned: SpawnedSupervisor | undefined;
  if (inspectSupervised(files, COMMAND_START).kind === 'untaken') {
    const started = await start(id, prepare, context, signal);
    if (started === undefined || 'exit_code' in started) return started;
    spawned = started;
  }
  const settling = await waitForEnd({ files, start: COMMAND_START, spawned, signal });
  if (settling === undefined) return undefined;
  const end = await settle(id, settling, files);
  // A supervisor that was killed has not removed them.
  removeTree(layersOf(files.folder));
  return end;
}

async function settle(
  id: string,
  settling: NonNullable<Awaited<ReturnType<typeof waitForEnd>>>,
  files: ReturnType<typeof commandFiles>,
): Promise<CommandEnd> {
  refuseWithoutRoom(settling);
  const { found, lastOutput } = settling;
  if (found.kind === 'ended') return endOf(found.exit, found.running?.sandbox?.kind);
  if (found.kind === 'untaken')
    return failed(`the supervisor did not start: ${lastOutput ?? 'its process has exited'}`);
  const exit = await endLostRun({ files, start: COMMAND_START, mark: commandMark(id) });
  return endOf({ ...exit, output: exit.output ?? 'its supervisor was killed' });
}

/** Starts the supervisor and waits until it runs. Returns a failed end if it cannot start. */
async function start(
  id: string,
  prepare: () => Promise<PreparedCommand | undefined>,
  context: EffectContext,
  signal: AbortSignal,
): Promise<SpawnedSupervisor | CommandEnd | undefined> {
  const files = commandFiles(context.stateDir, id);
  const programs = await context.programs();
  return context.startSemaphore.run(async () => {
    const wanted = await prepare();
    if (wanted === undefined || signal.aborted) return undefined;
    if (!wanted.ok) return failed(wanted.reason);
    mkdirSync(files.folder, { recursive: true, mode: 0o700 });
    writeFileAtomically(ownerFile(files.folder), context.projectId);
    const { env, times, secrets } = context;
    const launch = launchOf(id, wanted.shell, context, programs);
    const { sandbox } = wanted.shell;
    const confined =
      sandbox === undefined ? { ok: true as const, launch } : await confineCommand(launch, sandbox, context);
    if (!confined.ok) return failed(confined.reason);
    return (await startSupervisor(files, confined.launch, { programs, env, secrets, signal, startMs: times.startMs }))
      .spawned;
  });
}

function failed(output: string): CommandEnd {
  return { exit_code: null, timed_out: false, output };
}

function endOf({ code, timed_out, output }: Exit, sandbox?: string): CommandEnd {
  return { exit_code: code, timed_out, output, ...(sandbox === undefined ? {} : { sandbox }) };
}

function launchOf(
  id: string,
  { command, cwd, env = {}, envPass, namesDropped, timeoutMs }: ShellCommand,
  { stateDir, times, supervisorToken, sessions }: EffectContext,
  programs: Programs,
): Launch {
  const files = commandFiles(stateDir, id);
  return {
    v: 1,
    kind: 'command',
    id,
    start: COMMAND_START,
    argv: ['/bin/sh', '-c', command],
    cwd,
    env,
    env_pass: envPass ?? sessions.envPass ?? [],
    ...(namesDropped === true ? { names_dropped: true as const } : {}),
    output: 'text',
    input: 'none',
    prompt: null,
    timeout_ms: timeoutMs,
    kill_after_ms: times.killAfterMs,
    idle_ms: null,
    renew_ms: null,
    log_bytes: times.logBytes,
    finds_exit_signals: false,
    token: supervisorToken(id),
    // The command runs code of agents, so it gets no token.
    agent_token: '',
    owes: [],
    state_dir: stateDir,
    files: [batonShim(files.bin, programs)],
  };
}

/** Stops a command that is no longer needed. Does nothing if it has ended. */
export async function killCommand(commandId: string, reason: string, context: EffectContext): Promise<void> {
  const files = commandFiles(context.stateDir, commandId);
  if (preventStart(files, COMMAND_START)) return;
  const found = inspectSupervised(files, COMMAND_START);
  if (found.kind === 'ended') return;
  if (found.kind === 'running') {
    const timeoutMs = context.times.killAfterMs + context.times.controlMs;
    const options = { port: found.running.port, token: context.supervisorToken(commandId), timeoutMs };
    if ((await sendControl({ kind: 'kill', reason }, options)).ok) return;
  }
  await endLostRun({ files, start: COMMAND_START, mark: commandMark(commandId) });
}

/** Stops commands of this project that an earlier daemon should have stopped. */
export async function killUnwantedCommands(
  isWanted: (commandId: string) => boolean,
  context: EffectContext,
): Promise<void> {
  const left = listCommands(context).filter((id) => !isWanted(id));
  await Promise.all(left.map((id) => killCommand(id, 'its result is no longer needed', context)));
}

function listCommands({ stateDir, projectId }: EffectContext): string[] {
  try {
    return readdirSync(join(stateDir, 'commands')).filter((id) => {
      const files = commandFiles(stateDir, id);
      return (
        readFileIfPresent(ownerFile(files.folder)) === projectId &&
        inspectSupervised(files, COMMAND_START).kind !== 'ended'
      );
    });
  } catch {
    return [];
  }
}
