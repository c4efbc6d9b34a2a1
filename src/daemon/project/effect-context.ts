import { availableParallelism } from 'node:os';
import { daemonEnvironment } from '../../api/client/start-daemon.ts';
import type { EffectTimes, SessionSettings } from '../../effects/context.ts';
import type { Effects } from '../../effects/effects.ts';
import { Semaphore } from '../../effects/locks.ts';
import { storeTextBlob } from '../../ledger/snapshots-and-blobs.ts';
import { sealLedger } from '../../ledger/writer/seal.ts';
import type { NotificationChannel } from '../../notify/channel.ts';
import { openChannels } from '../../notify/open-channels.ts';
import { MAX_BLOCKS } from '../../protocol/decide-stop.ts';
import { renderTemplate } from '../../protocol/text/render-template.ts';
import { DEFAULT_LIMITS } from '../../runbook/build/build-runbook.ts';
import { buildProtection } from '../../runbook/gates/protected-paths.ts';
import { type Command, decide } from '../../state/decide.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { Task } from '../../state/tasks/task.ts';
import { findPrograms } from '../../supervisor/programs.ts';
import type { Log } from '../log.ts';
import type { Services } from '../operations/call.ts';
import { type DaemonSettings, leaseTimesOf } from '../settings.ts';
import type { AccessTokens } from '../tokens.ts';
import type { Project } from './project.ts';

export interface EffectContextOptions {
  readonly project: Project;
  readonly services: Services;
  readonly tokens: Pick<AccessTokens, 'issueSession' | 'issueAgent' | 'issueSupervisor'>;
  readonly settings: DaemonSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** The terminal of a daemon that was started in one. */
  readonly say: ((line: string) => void) | undefined;
}

/** What the effects of one project may touch of the daemon. */
export function createEffectContext(options: EffectContextOptions): ConstructorParameters<typeof Effects>[0] {
  const { project, services, tokens, settings, env, log, say } = options;
  const { id: projectId, path, stateDir, commandLoop: keeper } = project;
  const inherited = daemonEnvironment(env);
  return {
    projectId,
    path,
    stateDir,
    ownRepository: project.own,
    env: inherited,
    now: services.now,
    log,
    readState: async (look) => {
      const settled = await keeper.read(({ state }) => look(state));
      return settled.ok ? settled.answer : undefined;
    },
    submit: async (command) => submitAsSystem(keeper, command),
    isStoreWritable: () => project.isWritable,
    keepLog: async (text) => {
      const kept = await storeTextBlob(project.ledger.store, project.ledger.sha256, text, project.ledger.secrets);
      return kept.ok ? kept.value : null;
    },
    seal: async () => sealWorkflow(project, log),
    recordMainMoves: async () => project.mainWatch.poll(),
    mergeSemaphore: new Semaphore(1),
    placeMutex: project.places,
    startSemaphore: START_SLOTS,
    programs: async () => findPrograms(stateDir),
    supervisorToken: (id) => tokens.issueSupervisor({ project: projectId, id }),
    agentToken: (run) => agentToken(run, projectId, tokens),
    channels: (about) => channelsFor(about, services, { env, log, say }),
    fence: async (taskId) => {
      const claim = await keeper.read(({ state }) => state.tasks.get(taskId)?.claim ?? null);
      if (claim.ok) project.fences.add(taskId, claim.answer);
    },
    usesExitSignals: () => services.exitProtocol,
    settingsFor: (task) => sessionSettingsOf(services, task),
    get times() {
      return timesOf(services, settings);
    },
    get sessions() {
      return sessionSettingsOf(services);
    },
  };
}

async function submitAsSystem(keeper: Project['commandLoop'], command: Command) {
  const settled = await keeper.submit<unknown>({
    actor: `system:${ACTORS[command.kind] ?? 'effects'}`,
    decide: ({ state, rules }) => decide(state, command, SYSTEM, rules),
  });
  if (settled.ok) return {};
  return 'refusal' in settled ? { refused: settled.refusal.message } : undefined;
}

/** All projects of a daemon share the machine. */
const START_SLOTS = new Semaphore(4 * availableParallelism());

/** Who the ledger names for what moves a task. */
const ACTORS: Readonly<Partial<Record<Command['kind'], string>>> = {
  'finish-check': 'ci',
  'finish-merge': 'merge',
  'publish-pull': 'github',
  'fail-pull': 'github',
  'close-pull': 'github',
};

const SYSTEM = { kind: 'system', name: 'effects' } as const;

/** An agent under a claim speaks as its session. */
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

/** By the runbook that a task goes by; without a task by the one in force. */
export function sessionSettingsOf(
  { rulebook, runbook: working }: Pick<Services, 'rulebook' | 'runbook'>,
  task: Pick<Task, 'flow'> | null = null,
): SessionSettings {
  // A person may have corrected the file a moment ago, and tried again.
  working.read();
  const runbook = rulebook.runbookFor(task);
  const { workspace, limits, workflow, merge, git, envPass } = runbook;
  const prompts = rulebook.pinnedFor(task)?.prompts ?? null;
  const protection = buildProtection(runbook, prompts ?? {});
  return { workspace, limits, workflow, into: merge?.into, filters: git.filters, prompts, protection, envPass };
}

/** By the runbook as it is now: who corrects it while something waits is heard at once. */
function channelsFor(
  about: NotificationTopic,
  { runbook }: Services,
  { env, log, say }: Pick<EffectContextOptions, 'env' | 'log' | 'say'>,
): readonly NotificationChannel[] {
  const notify = runbook.lastValid?.notify;
  if (notify !== undefined && !notify.on.includes(about)) return [];
  const webhook = notify?.webhook === undefined ? undefined : fillVariables(notify.webhook, env, log);
  const { desktop = true, terminal = true } = notify ?? {};
  const settings = { desktop, terminal, webhook };
  return openChannels(settings, say === undefined ? { env } : { env, say });
}

type NotificationTopic = 'attention' | 'warning' | 'done' | 'failed';

function fillVariables(text: string, env: EffectContextOptions['env'], log: Log): string | undefined {
  const rendered = renderTemplate(text, { env }, { quote: 'none' });
  if (rendered.ok) return rendered.value;
  log.error('the webhook of the runbook cannot be used', { cause: rendered.problems[0].message });
  return undefined;
}

/** Seals the end of a workflow. It is owed until the seal is on record: whoever could not is asked again, by this daemon or the next. */
export async function sealWorkflow({ commandLoop: keeper, ledger, id }: Project, log: Log): Promise<void> {
  // What belongs to the same moment is sealed with it.
  await keeper.whenIdle();
  const sealed = await sealLedger(ledger, 'system:workflow');
  if (!sealed.ok)
    log.error('the end of a workflow could not be sealed', { project: id, cause: sealed.problem.message });
}
