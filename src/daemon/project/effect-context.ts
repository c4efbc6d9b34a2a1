import { availableParallelism } from 'node:os';
import { daemonEnvironment } from '../../api/client/start-daemon.ts';
import { PackageCaches } from '../../effects/caches/package-caches.ts';
import type { EffectContext, EffectTimes, PersonalSettings, SessionSettings } from '../../effects/context.ts';
import { Semaphore } from '../../effects/locks.ts';
import { storeTextBlob } from '../../ledger/snapshots-and-blobs.ts';
import { sealLedger } from '../../ledger/writer/seal.ts';
import type { NotificationChannel } from '../../notify/channel.ts';
import { openChannels } from '../../notify/open-channels.ts';
import { MAX_BLOCKS } from '../../protocol/decide-stop.ts';
import { renderTemplate } from '../../protocol/text/render-template.ts';
import { secretVariables } from '../../runbook/access.ts';
import { DEFAULT_LIMITS } from '../../runbook/shape/limits-shape.ts';
import { buildProtection } from '../../runbook/gates/protected-paths.ts';
import { NO_FILES } from '../../runbook/gates/rule-files.ts';
import { readPersonal } from '../../runbook/personal/read-personal.ts';
import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { Task } from '../../state/tasks/task.ts';
import { findPrograms } from '../../supervisor/programs.ts';
import type { Log } from '../log.ts';
import type { Services } from '../operations/call.ts';
import { renderRunbookProblem } from '../rules/rulebook.ts';
import { withoutDatabaseLogin } from '../fleet/database-login.ts';
import { type DaemonSettings, leaseTimesOf } from '../settings.ts';
import type { AccessTokens } from '../tokens.ts';
import type { Project } from './project.ts';

interface EffectContextOptions {
  readonly project: Project;
  readonly services: Services;
  readonly tokens: Pick<AccessTokens, 'issueSession' | 'issueAgent' | 'issueSupervisor'>;
  readonly settings: DaemonSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Prints a line in the daemon's terminal, if it has one. */
  readonly say: ((line: string) => void) | undefined;
  readonly onSpawned: EffectContext['onSpawned'];
}

export function createEffectContext(options: EffectContextOptions): EffectContext {
  const { project, services, tokens, settings, env, log, say, onSpawned } = options;
  const { id: projectId, path, stateDir, commandLoop } = project;
  const inherited = daemonEnvironment(env);
  const passed = project.fleet === undefined ? inherited : withoutDatabaseLogin(inherited);
  const caches = new PackageCaches();
  return {
    projectId,
    path,
    stateDir,
    ownRepository: project.own,
    get env() {
      return withoutSecrets(passed, services);
    },
    get secrets() {
      return secretsIn(inherited, services);
    },
    now: services.now,
    log,
    onSpawned,
    readState: async (look) => {
      const settled = await commandLoop.read(({ state }) => look(state));
      return settled.ok ? settled.answer : undefined;
    },
    submit: async (command, term) => submitAsSystem(commandLoop, command, term),
    here: () => project.here,
    isStoreWritable: () => project.isWritable,
    keepLog: async (text) => {
      const kept = await storeTextBlob(project.ledger.store, project.ledger.sha256, text, project.ledger.secrets);
      return kept.ok ? kept.value : null;
    },
    seal: async () => sealWorkflow(project, log),
    recordMainMoves: async (how) => project.mainWatch.poll(how),
    mergeSemaphore: new Semaphore(1),
    placeMutex: project.places,
    startSemaphore: START_SLOTS,
    noteIsolated: (id) => project.isolated.add(id),
    isolated: () => project.isolated.ids,
    programs: async () => findPrograms(stateDir),
    cachesFor: async (...wish) => caches.lowersFor(...wish),
    supervisorToken: (id) => tokens.issueSupervisor({ project: projectId, id }),
    agentToken: (run) => agentToken(run, projectId, tokens),
    channels: (about) => channelsFor(about, services, { env, log, say }),
    fence: async (taskId) => {
      const claim = await commandLoop.read(({ state }) => state.tasks.get(taskId)?.claim ?? null);
      if (claim.ok) project.fences.add(taskId, claim.answer);
    },
    usesExitSignals: () => services.exitProtocol,
    settingsFor: (task) => sessionSettingsOf(services, task),
    get times() {
      return timesOf(services, settings);
    },
    get personal() {
      return personalSettingsOf(env, path);
    },
    get sessions() {
      return sessionSettingsOf(services);
    },
  };
}

/** Removes the variables of injected secrets, which no process of the project may get. */
function withoutSecrets(env: EffectContextOptions['env'], { rulebook }: Services): EffectContextOptions['env'] {
  const names = new Set(secretVariables(rulebook.runbookFor(null)));
  return names.size === 0 ? env : Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

function secretsIn(env: EffectContextOptions['env'], { rulebook }: Services): Readonly<Record<string, string>> {
  const found = [...rulebook.runbookFor(null).secrets].map(([name, plan]) => [name, env[plan.env] ?? ''] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== ''));
}

async function submitAsSystem(commandLoop: Project['commandLoop'], command: Command, term: number | undefined) {
  const name = ACTORS[command.kind] ?? 'effects';
  const caller: Caller = { kind: 'system', name, ...(term === undefined ? {} : { term }) };
  const settled = await commandLoop.submitCommand(command, caller);
  if (settled.ok) return {};
  return 'refusal' in settled ? { refused: settled.refusal.message } : undefined;
}

/** Limits concurrent agent starts, over all projects of the daemon. */
const START_SLOTS = new Semaphore(4 * availableParallelism());

/** The actors of commands that move a task. All others use `system:effects`. */
const ACTORS: Readonly<Partial<Record<Command['kind'], string>>> = {
  'finish-check': 'ci',
  'finish-merge': 'merge',
  'publish-pull': 'github',
  'fail-pull': 'github',
  'close-pull': 'github',
};

function agentToken({ id, task }: AgentRun, project: string, tokens: EffectContextOptions['tokens']): string {
  if (task === null) return tokens.issueAgent({ project, id });
  return tokens.issueSession({ project, sessionId: task.session_id, taskId: task.task_id, epoch: task.epoch });
}

function timesOf({ rulebook }: Services, settings: DaemonSettings): EffectTimes {
  const { limits } = rulebook.runbookFor(null);
  return {
    killAfterMs: limits?.killAfterMs ?? 10_000,
    renewalMs: leaseTimesOf(settings, limits).renewalMs,
    idleMs: limits?.idleMs ?? null,
    silenceMs: limits?.silenceMs ?? DEFAULT_LIMITS.silenceMs,
    toolMs: limits?.toolMs ?? DEFAULT_LIMITS.toolMs,
    logBytes: limits?.logBytes ?? 10 * 1024 * 1024,
    maxBlocks: limits?.blocks ?? MAX_BLOCKS,
    startMs: 60_000,
    controlMs: 10_000,
  };
}

export function sessionSettingsOf(
  { rulebook }: Pick<Services, 'rulebook'>,
  task: Pick<Task, 'flow'> | null = null,
): SessionSettings {
  const runbook = rulebook.runbookFor(task);
  const { workspace, workflowCommands, limits, workflow, merge, git, envPass, sandbox, network, secrets } = runbook;
  const { prompts, devcontainer } = rulebook.pinnedFor(task)?.files ?? NO_FILES;
  return {
    workspace,
    install: workflowCommands.install,
    limits,
    workflow,
    into: merge?.into,
    filters: git.filters,
    prompts,
    envPass,
    access: { sandbox, network, secrets, devcontainer },
    get protection() {
      return buildProtection(runbook, prompts);
    },
  };
}

function personalSettingsOf(env: EffectContextOptions['env'], project: string): PersonalSettings {
  const { value, path, problems } = readPersonal(env, project);
  const [first] = problems;
  return { ...value, path, problem: first === undefined ? null : `${renderRunbookProblem(first)}. ${first.hint}` };
}

/** Uses the runbook in force, so that a correction applies to waiting notifications when it is adopted. */
function channelsFor(
  about: 'attention' | 'warning' | 'done' | 'failed',
  { rulebook }: Services,
  { env, log, say }: Pick<EffectContextOptions, 'env' | 'log' | 'say'>,
): readonly NotificationChannel[] {
  const { on, webhook: url, desktop, terminal } = rulebook.runbookFor(null).notify;
  if (!on.includes(about)) return [];
  const webhook = url === undefined ? undefined : fillVariables(url, env, log);
  return openChannels({ desktop, terminal, webhook }, say === undefined ? { env } : { env, say });
}

function fillVariables(text: string, env: EffectContextOptions['env'], log: Log): string | undefined {
  const rendered = renderTemplate(text, { env }, { quote: 'none' });
  if (rendered.ok) return rendered.value;
  log.error('the webhook of the runbook cannot be used', { cause: rendered.problems[0].message });
  return undefined;
}

/** The seal stays requested until it is recorded. If it fails, this daemon or the next one retries. */
async function sealWorkflow({ commandLoop, ledger, id }: Project, log: Log): Promise<void> {
  // The seal covers the other entries of the same commit.
  await commandLoop.whenIdle();
  const sealed = await sealLedger(ledger, 'system:workflow');
  if (!sealed.ok)
    log.error('the end of a workflow could not be sealed', { project: id, cause: sealed.problem.message });
}
