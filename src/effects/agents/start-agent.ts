import { mkdirSync } from 'node:fs';
import { hasReliableStopFlag } from '../../agents/prepare-agent.ts';
import { writeFileAtomically } from '../../api/files.ts';
import { fencePath } from '../../git/fence/fence.ts';
import { readAuthorEnvironment } from '../../git/config.ts';
import type { Exit } from '../../protocol/agent-report.ts';
import { isIsolated } from '../../protocol/sandbox.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import { standingOf } from '../../state/runs/standing.ts';
import type { State } from '../../state/state.ts';
import { type Task, usesExitProtocol } from '../../state/tasks/task.ts';
import { agentFiles, type HookConfig, type Running } from '../../supervisor/contract.ts';
import type { EffectContext, SessionSettings } from '../context.ts';
import { agentMark, endLostRun } from '../processes/settle-lost.ts';
import { inspectSupervised, ownerFile } from '../processes/supervised.ts';
import { type FoundStart, refuseWithoutRoom, startSupervisor, waitForStart } from '../processes/supervisor.ts';
import { chooseSandbox } from '../sandbox/choose-sandbox.ts';
import { confineAgent } from '../sandbox/confine-agent.ts';
import { injectedVariables } from '../sandbox/resolve-network.ts';
import { judgeClient } from '../sessions/judge-client.ts';
import { type PreparedSession, prepareSession } from '../sessions/prepare-session.ts';
import { workplaceOf } from '../sessions/workplace.ts';
import { agentContext } from '../template-context.ts';
import { launchAgent, type StartedAgent } from './launch-agent.ts';

/** The outcome of a start. Several commands if the process ran and ended before the start was reported. */
export type StartOutcome =
  | ({ readonly kind: 'started' } & Pick<Running, 'supervisor' | 'process' | 'sandbox' | 'judge'>)
  | { readonly kind: 'exited'; readonly exit: Exit }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Starts an agent under its own supervisor, once. If an earlier daemon started a supervisor, the files in the agent's
 * folder show it, and it is followed instead. Empty if another process has reported the outcome.
 */
export async function startAgent(
  { agentId, start }: { readonly agentId: string; readonly start: number },
  context: EffectContext,
  signal: AbortSignal,
): Promise<readonly StartOutcome[]> {
  const files = agentFiles(context.stateDir, agentId);
  const lose = async (): Promise<Exit> => endLostRun({ files, start, mark: agentMark(agentId) });
  if (inspectSupervised(files, start).kind !== 'untaken') {
    const settling = await waitForStart({ files, start, spawned: undefined, signal }, context.times.startMs);
    if (settling === undefined) return [];
    refuseWithoutRoom(settling);
    return outcomesOf(settling, lose);
  }
  const run = await context.readState((state) => state.agents.get(agentId));
  if (run === undefined || run.start !== start) return [];
  const wasNoted = await noteStarting(run, context);
  const session = run.task === null ? null : await prepareSession(run, context, signal);
  if (session === undefined || signal.aborted) return [];
  if (session?.ok === false) return [{ kind: 'failed', reason: session.reason }];
  const author = await readAuthorEnvironment(context.path, context.env);
  const programs = await context.programs();
  return context.startSemaphore.run(async () => {
    const wanted = await context.readState((state) =>
      selectStartedAgent(state, agentId, start, session, author, context),
    );
    if (wanted === undefined || signal.aborted) return [];
    const choice = await chooseSandbox(wanted.access, wanted.run.plan, context);
    if (!choice.ok) return [{ kind: 'failed', reason: choice.reason }];
    // A private git directory needs no fence.
    const fenceHooks = isIsolated(choice.kind) ? null : wanted.fenceHooks;
    if (isIsolated(choice.kind) && wanted.run.task !== null) context.noteIsolated(agentId);
    else if (wasNoted) return [{ kind: 'failed', reason: 'its sandbox was switched off while it was being prepared' }];
    const injected = choice.kind === 'none' ? [] : injectedVariables(wanted.run.plan.run, context);
    const made = launchAgent({ ...wanted, fenceHooks, injected }, context, programs);
    if (!made.ok) return [{ kind: 'failed', reason: made.reason }];
    const confined = await confineAgent(made, wanted, choice, programs, context, signal);
    if (!confined.ok) return [{ kind: 'failed', reason: confined.reason }];
    mkdirSync(files.folder, { recursive: true, mode: 0o700 });
    writeFileAtomically(ownerFile(files.folder), context.projectId);
    writeFileAtomically(files.config, `${JSON.stringify(hookConfig(wanted.run, start, context.times.maxBlocks))}\n`);
    const { settling } = await startSupervisor(files, confined.launch, {
      programs,
      env: context.env,
      secrets: context.secrets,
      signal,
      startMs: context.times.startMs,
      onSpawned: (spawned) => context.onSpawned(agentId, spawned),
    });
    return settling === undefined ? [] : outcomesOf(settling, lose);
  });
}

/**
 * Notes early that the agent will run in a sandbox, because its preparation may take minutes. Without it, a person's
 * commit to main in that time would be suspect. The set-up command of its workspace has no sandbox of the agent.
 */
async function noteStarting({ id, task: ref, plan }: AgentRun, context: EffectContext): Promise<boolean> {
  if (ref === null) return false;
  const task = await context.readState((state) => state.tasks.get(ref.task_id));
  const { access } = context.settingsFor(task ?? null);
  const choices = await Promise.all([plan, undefined].map(async (agent) => chooseSandbox(access, agent, context)));
  if (!choices.every((choice) => choice.ok && isIsolated(choice.kind))) return false;
  context.noteIsolated(id);
  return true;
}

async function outcomesOf(
  { found, lastOutput }: FoundStart,
  lose: () => Promise<Exit>,
): Promise<readonly StartOutcome[]> {
  const running = 'running' in found ? found.running : undefined;
  const ran: StartOutcome[] = running === undefined ? [] : [startedBy(running)];
  switch (found.kind) {
    case 'running':
      return ran;
    case 'ended':
      return [...ran, { kind: 'exited', exit: found.exit }];
    case 'lost':
      return [...ran, { kind: 'exited', exit: await lose() }];
    case 'untaken':
      return [{ kind: 'failed', reason: `the supervisor did not start: ${lastOutput ?? 'its process has exited'}` }];
    case 'starting':
      await lose();
      return [{ kind: 'failed', reason: 'the supervisor did not start the agent in time' }];
  }
}

function startedBy({ supervisor, process, sandbox, judge }: Running): StartOutcome {
  const record = { ...(sandbox === undefined ? {} : { sandbox }), ...(judge === undefined ? {} : { judge }) };
  return { kind: 'started', supervisor, process, ...record };
}

function selectStartedAgent(
  state: State,
  agentId: string,
  start: number,
  session: Extract<PreparedSession, { ok: true }> | null,
  author: Readonly<Record<string, string>>,
  context: EffectContext,
): StartedAgent | undefined {
  const run = state.agents.get(agentId);
  if (run === undefined || run.start !== start) return undefined;
  const { path } = context;
  const task = state.tasks.get(run.task?.task_id ?? '');
  const settings = context.settingsFor(task ?? null);
  const flag = context.usesExitSignals();
  return {
    run,
    start,
    templates: agentContext(state, run, context),
    workplace: session?.workspace ?? workplaceOf(state, run.owner?.pipelineId, path),
    env: session?.env ?? {},
    fenceHooks: session?.fenceHooks ?? null,
    author,
    owes: standingOf(state, run.id, flag).missing,
    usesExitSignals: usesExitProtocol(task, flag),
    prompts: settings.prompts,
    envPass: settings.envPass ?? [],
    access: settings.access,
    git: gitOf(run, state, context),
    ...judgeOf(run, task, settings, context),
  };
}

/** What is known about the client of a judging session when it starts. */
function judgeOf(
  run: AgentRun,
  task: Task | undefined,
  settings: Pick<SessionSettings, 'workflow'>,
  context: EffectContext,
): Pick<StartedAgent, 'judge'> {
  const client = task === undefined ? undefined : judgeClient(run, task, settings);
  if (client === undefined) return {};
  return { judge: { ...client, shell: false, unseparated: context.personal.review.unseparated } };
}

function gitOf({ task }: AgentRun, { sessions }: State, { stateDir, projectId }: EffectContext): StartedAgent['git'] {
  if (task === null) return { fence: null };
  const { branch } = sessions.get(task.session_id)?.prepared ?? {};
  const livePath = fencePath(stateDir, projectId, task.task_id);
  return { ...(branch === undefined ? {} : { branch }), fence: { livePath, epoch: task.epoch } };
}

function hookConfig({ onStop, plan, blocks }: AgentRun, start: number, maxBlocks: number): HookConfig {
  const attempts = plan.on_stop?.attempts;
  return {
    on_stop: onStop,
    ...(attempts === undefined ? {} : { attempts }),
    max_blocks: maxBlocks,
    blocks_before: blocks,
    ...(hasReliableStopFlag(plan) ? {} : { ignores_flag: true as const }),
    start,
  };
}
