import { claimsToRenew } from '../../effects/agents/liveness.ts';
import type { Effects } from '../../effects/effects.ts';
import { KeyedMutex } from '../../effects/locks.ts';
import { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { ghLoginConfig, parseRepository } from '../../github/find-github.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../../ledger/format/limits.ts';
import { storeSnapshot } from '../../ledger/snapshots-and-blobs.ts';
import { StoreProblem } from '../../ledger/store.ts';
import type { Ledger, LedgerOptions } from '../../ledger/writer/ledger.ts';
import { openLedger } from '../../ledger/writer/open.ts';
import type { StoreHealth } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { UnreadableEntry } from '../../state/recorded-event.ts';
import { type Rules, rulesInForce } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import { createLeases, type Leases, type LeaseTimes } from '../../state/tasks/lease.ts';
import type { Log } from '../log.ts';
import { CommandLoop } from '../loop/command-loop.ts';
import { loadState, renderState, SNAPSHOT_NAME } from '../loop/fold-state.ts';
import { type KeptMessages, NO_KEPT_MESSAGES } from '../loop/request.ts';
import { CommitClock } from '../loop/speculative-state.ts';
import type { Adoptions } from '../rules/adoptions.ts';
import { Fences } from './fences.ts';
import { MainWatch } from './main-watch.ts';
import { RecentIds } from './recent-ids.ts';
import { LastReports } from './silence.ts';
import { FolderProbe, StoreWatch } from './storage-health.ts';

export interface ProjectOptions {
  readonly id: string;
  readonly path: string;
  readonly stateDir: string;
  readonly ledger: Omit<LedgerOptions, 'project' | 'clock' | 'onEntries'>;
  readonly rules: Rules;
  readonly leaseTimes: LeaseTimes;
  /** Loads what decisions need. If it returns a problem, the project stays closed. */
  readonly prepare?: (ledger: Ledger, state: State) => Promise<Problem | undefined>;
  readonly now: () => Date;
  readonly monotonicMs: () => number;
  readonly onEntries?: (entries: readonly Entry[]) => void;
  readonly onMistake?: (error: unknown) => void;
  readonly onImport?: (line: string) => void;
  /** A snapshot was discarded and all entries were folded instead. */
  readonly onDiscarded?: (name: string, why: string) => void;
  readonly messages?: KeptMessages;
  readonly onStoreHealth?: (health: StoreHealth) => void;
  readonly onTick?: (nowMs: number) => void;
}

export class Project {
  readonly id: string;
  readonly path: string;
  readonly stateDir: string;
  readonly own: OwnRepositoryImporter;
  readonly rules: Rules;
  readonly ledger: Ledger;
  readonly commandLoop: CommandLoop;
  readonly leases: Leases;
  readonly fences: Fences;
  /** Undefined in tests that open a project without a daemon. */
  adoptions: Adoptions | undefined;
  readonly mainWatch: MainWatch;
  /** Processes in a sandbox whose start or end may not be recorded yet. */
  readonly isolated = new RecentIds();
  /** Locks by branch: one effect at a time starts work on a branch or removes its worktree. */
  readonly places = new KeyedMutex();
  readonly lastReports: LastReports;
  readonly #state: State;
  readonly #monotonicMs: () => number;
  readonly #ticking: NodeJS.Timeout;
  readonly #onTick: (nowMs: number) => void;
  readonly #folderProbe: FolderProbe;
  readonly #storeWatch: StoreWatch;
  readonly #messages: KeptMessages;
  #effects: Effects | undefined;
  #isClosed = false;
  #snapshotAt: number;

  constructor(
    options: ProjectOptions,
    parts: { ledger: Ledger; state: State; commandLoop: CommandLoop; leases: Leases; fences: Fences },
  ) {
    this.id = options.id;
    this.path = options.path;
    this.stateDir = options.stateDir;
    this.own = new OwnRepositoryImporter(
      { stateDir: options.stateDir, projectId: options.id, path: options.path },
      options.onImport,
    );
    this.rules = options.rules;
    this.ledger = parts.ledger;
    this.commandLoop = parts.commandLoop;
    this.leases = parts.leases;
    this.fences = parts.fences;
    this.mainWatch = new MainWatch({
      ...options,
      commandLoop: parts.commandLoop,
      own: this.own,
      isolated: () => this.isolated.ids,
      into: () => rulesInForce(parts.state, options.rules).merge?.into ?? undefined,
      login: () => loginConfigOf(rulesInForce(parts.state, options.rules)),
      onMistake: options.onMistake ?? ((): void => undefined),
    });
    this.#messages = options.messages ?? NO_KEPT_MESSAGES;
    this.#folderProbe = new FolderProbe(options);
    this.#storeWatch = new StoreWatch(parts.ledger, options.onStoreHealth);
    this.#state = parts.state;
    this.#monotonicMs = options.monotonicMs;
    this.lastReports = new LastReports(options.monotonicMs());
    this.#onTick = options.onTick ?? ((): void => undefined);
    this.#snapshotAt = parts.state.seq;
    this.#ticking = setInterval(() => this.#tick(), options.leaseTimes.tickMs);
    this.#ticking.unref();
  }

  get liveAgents(): number {
    return [...this.#state.agents.values()].filter(({ process }) => process === 'running').length;
  }

  get messagesBlockedMs(): number {
    return this.#messages.blockedMs();
  }

  async storeHealth(): Promise<StoreHealth> {
    const health = await this.ledger.probe(FRESH_MS);
    return health.writable ? this.#folderProbe.probe(FRESH_MS) : health;
  }

  get isWritable(): boolean {
    return this.ledger.health.writable && this.#folderProbe.probe(FRESH_MS).writable;
  }

  startEffects(effects: Effects): void {
    void this.commandLoop
      .read(({ state }) => state.seq)
      .then(() => {
        if (this.#isClosed) return;
        this.#effects = effects;
        effects.recover(this.#state);
      });
  }

  applyRecorded(recorded: readonly RecordedEvent[]): void {
    this.#effects?.reconcile(this.#state);
    this.#effects?.onRecorded(recorded);
    this.mainWatch.follow(recorded);
    for (const { type, data } of recorded)
      if (type === 'AgentStarted') this.lastReports.noteAgent(data.agent_id, this.#monotonicMs());
  }

  async renewClaim(taskId: string, epoch: number): Promise<boolean> {
    const live = await this.commandLoop.read(({ state }) => state.tasks.get(taskId)?.claim?.epoch === epoch);
    // The claim may have ended in the commit that the read waited for.
    return live.ok && live.answer && this.leases.renew(taskId, epoch, this.#monotonicMs());
  }

  async expireClaims(): Promise<void> {
    const expired = this.leases.expired(this.#monotonicMs());
    await Promise.all(
      expired.map(({ taskId, epoch }) =>
        this.commandLoop.submitCommand({ kind: 'expire-claim', command: { id: taskId, epoch } }, SYSTEM),
      ),
    );
  }

  #tick(): void {
    const nowMs = this.#monotonicMs();
    for (const { taskId, epoch } of claimsToRenew(this.#state)) this.leases.renew(taskId, epoch, nowMs);
    void this.expireClaims();
    this.#effects?.tick(this.#state);
    this.mainWatch.pollIfDue(nowMs);
    this.lastReports.keepOnly((id) => this.#state.agents.get(id)?.process === 'running');
    this.#storeWatch.probeIfDue(nowMs);
    this.#onTick(nowMs);
  }

  /** Without it, missing entries at the end go unnoticed. It may have been moved for a good reason, so Baton only records that. */
  async noteMissingCheckpoint(log: Log): Promise<void> {
    const { size } = this.ledger.head;
    log.error('the outside checkpoint is missing', { project: this.id, entries: size });
    await this.ledger.append([{ actor: 'system:daemon', type: 'OutsideCheckpointMissing', data: { size } }]);
  }

  async saveSnapshot(): Promise<void> {
    await this.commandLoop.whenIdle();
    const { head, store, snapshotSigner } = this.ledger;
    if (head.size === this.#snapshotAt || this.#state.seq !== head.size) return;
    await storeSnapshot(store, snapshotSigner, SNAPSHOT_NAME, head, renderState(this.#state));
    this.#snapshotAt = head.size;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#ticking);
    await this.#effects?.close();
    await this.mainWatch.close();
    await this.saveSnapshot();
    await this.ledger.close();
  }
}

/** A write that succeeded this recently proves that the store can be written. */
const FRESH_MS = 2000;
const SYSTEM = { kind: 'system', name: 'daemon' } as const;

function loginConfigOf({ pulls }: Rules): readonly string[] {
  const repository = pulls === undefined ? undefined : parseRepository(pulls.repository);
  return repository === undefined ? [] : ghLoginConfig(repository);
}

export type OpenedProject =
  | { readonly ok: true; readonly project: Project }
  | { readonly ok: false; readonly problem: Problem };

/** If the store stops answering while the state is folded, the project stays closed; the next call tries again. */
export async function openProject(options: ProjectOptions): Promise<OpenedProject> {
  try {
    return await openLedgerAndState(options);
  } catch (error) {
    if (error instanceof StoreProblem) return { ok: false, problem: error.problem };
    throw error;
  }
}

/** Gives every live claim a full lease. */
async function openLedgerAndState(options: ProjectOptions): Promise<OpenedProject> {
  const clock = new CommitClock(options.now);
  let commandLoop: CommandLoop | undefined;
  const opened = await openLedger({
    ...options.ledger,
    project: options.id,
    clock: () => clock.read(),
    onEntries: (entries) => {
      commandLoop?.receiveEntries(entries);
      options.onEntries?.(entries);
    },
  });
  if (!opened.ok) return opened;
  const { ledger } = opened;
  const loaded = await loadState(ledger, options.onDiscarded).catch((error: unknown) => {
    if (error instanceof UnreadableEntry) return ledgerProblem('ledger/unreadable', error.message, DO_NOT_WRITE);
    throw error;
  });
  if ('code' in loaded) {
    await ledger.close();
    return { ok: false, problem: loaded };
  }
  const state = loaded;
  const obstacle = await options.prepare?.(ledger, state);
  if (obstacle !== undefined) return { ok: false, problem: obstacle };
  const leases = createLeases(options.leaseTimes);
  for (const { id, claim } of state.tasks.values()) {
    if (claim !== null) leases.renew(id, claim.epoch, options.monotonicMs());
  }
  const fences = new Fences(options.stateDir, options.id);
  fences.writeAll(state);
  const onRecorded = (recorded: readonly RecordedEvent[]): void => {
    updateLeases(leases, recorded, options.monotonicMs());
    fences.follow(recorded);
    project?.applyRecorded(recorded);
  };
  const { rules, messages, onMistake = () => {} } = options;
  let project: Project | undefined;
  commandLoop = new CommandLoop({
    ledger,
    state,
    rules,
    clock,
    onRecorded,
    onInternalError: onMistake,
    ...(messages === undefined ? {} : { messages }),
  });
  project = new Project(options, { ledger, state, commandLoop, leases, fences });
  return { ok: true, project };
}

function updateLeases(leases: Leases, recorded: readonly RecordedEvent[], nowMs: number): void {
  for (const { type, data } of recorded) {
    if (type === 'TaskClaimed') leases.renew(data.task_id, data.epoch, nowMs);
    else if (type.startsWith('Claim') && 'task_id' in data) leases.end(data.task_id ?? '');
  }
}

/** The first copy of a large repository takes minutes: its progress is logged from time to time. */
export function logProgress(project: string, log: Log): (line: string) => void {
  let nextMs = performance.now() + IMPORT_LOG_MS;
  return (line) => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + IMPORT_LOG_MS;
    log.info("copying commits into Baton's own repository", { project, progress: line });
  };
}

const IMPORT_LOG_MS = 2000;
