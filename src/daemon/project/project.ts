import { claimsToRenew } from '../../effects/agents/liveness.ts';
import type { Effects } from '../../effects/effects.ts';
import { KeyedMutex } from '../../effects/locks.ts';
import { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { ghLoginConfig, parseRepository } from '../../github/find-github.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import { DO_NOT_WRITE, ledgerProblem } from '../../ledger/format/limits.ts';
import { storeSnapshot } from '../../ledger/snapshots-and-blobs.ts';
import type { Ledger, LedgerOptions } from '../../ledger/writer/ledger.ts';
import { openLedger } from '../../ledger/writer/open.ts';
import type { StoreHealth } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { UnreadableEntry } from '../../state/recorded-event.ts';
import { type Rules, rulesInForce } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import { createLeases, type Leases, type LeaseTimes } from '../../state/tasks/lease.ts';
import { CommandLoop } from '../loop/command-loop.ts';
import { loadState, renderState, SNAPSHOT_NAME } from '../loop/fold-state.ts';
import { CommitClock, type KeptMessages, NO_KEPT_MESSAGES } from '../loop/request.ts';
import type { Adoptions } from '../rules/adoptions.ts';
import { Fences } from './fences.ts';
import { MainWatch } from './main-watch.ts';
import { LastReports } from './silence.ts';
import { FolderProbe, StoreWatch } from './storage-health.ts';

export interface ProjectOptions {
  readonly id: string;
  /** The top folder of its repository. */
  readonly path: string;
  readonly stateDir: string;
  readonly ledger: Omit<LedgerOptions, 'project' | 'clock' | 'onEntries'>;
  readonly rules: Rules;
  readonly leaseTimes: LeaseTimes;
  /** Loads what decisions need before the first decision. If it returns a problem, the project stays closed. */
  readonly prepare?: (ledger: Ledger, state: State) => Promise<Problem | undefined>;
  readonly now: () => Date;
  /** A clock that never jumps, in milliseconds. */
  readonly monotonicMs: () => number;
  /** Receives all durable entries in order. */
  readonly onEntries?: (entries: readonly Entry[]) => void;
  /** Receives unexpected exceptions, for the log. */
  readonly onMistake?: (error: unknown) => void;
  /** Receives progress while commits are copied into Baton's own repository. */
  readonly onImport?: (line: string) => void;
  /** A snapshot was discarded, with the reason, for the log; the entries were folded instead. */
  readonly onDiscarded?: (name: string, why: string) => void;
  /** The messages of this project in the outbox. */
  readonly messages?: KeptMessages;
  /** Called when the store can no longer be written, and when it can be written again. */
  readonly onStoreHealth?: (health: StoreHealth) => void;
  /** Called at every tick of the lease clock. */
  readonly onTick?: (nowMs: number) => void;
}

/** One open repository: its ledger, state, command loop, leases and fences. */
export class Project {
  readonly id: string;
  readonly path: string;
  readonly stateDir: string;
  /** Baton's own copy of the repository's commits. */
  readonly own: OwnRepositoryImporter;
  readonly rules: Rules;
  readonly ledger: Ledger;
  readonly commandLoop: CommandLoop;
  readonly leases: Leases;
  readonly fences: Fences;
  /** Which runbook is in force. Undefined in tests that open a project without a daemon: it adopts no runbook. */
  adoptions: Adoptions | undefined;
  readonly mainWatch: MainWatch;
  /** Locks by branch: only one effect at a time starts work on a branch or removes its worktree. */
  readonly places = new KeyedMutex();
  /** When each running agent last reported. */
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
    parts: { ledger: Ledger; state: State; keeper: CommandLoop; leases: Leases; fences: Fences },
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
    this.commandLoop = parts.keeper;
    this.leases = parts.leases;
    this.fences = parts.fences;
    this.mainWatch = new MainWatch({
      ...options,
      commandLoop: parts.keeper,
      own: this.own,
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

  /** How many processes of agents are running, as far as reported. */
  get liveAgents(): number {
    return [...this.#state.agents.values()].filter(({ process }) => process === 'running').length;
  }

  /** How long recording messages from the outbox has failed. */
  get messagesBlockedMs(): number {
    return this.#messages.blockedMs();
  }

  /** Whether entries can be recorded; if not, since when, why, and what to do. Probes the store if the last success is too old. */
  async storeHealth(): Promise<StoreHealth> {
    const health = await this.ledger.probe(FRESH_MS);
    return health.writable ? this.#folderProbe.probe(FRESH_MS) : health;
  }

  /** The same without probing the ledger. */
  get isWritable(): boolean {
    return this.ledger.health.writable && this.#folderProbe.probe(FRESH_MS).writable;
  }

  /** Starts the effects of the project. */
  startEffects(effects: Effects): void {
    void this.commandLoop
      .read(({ state }) => state.seq)
      .then(() => {
        if (this.#isClosed) return;
        this.#effects = effects;
        effects.recover(this.#state);
      });
  }

  /** On entries that have just become durable. */
  applyRecorded(recorded: readonly RecordedEvent[]): void {
    this.#effects?.reconcile(this.#state);
    this.#effects?.onRecorded(recorded);
    this.mainWatch.follow(recorded);
    for (const { type, data } of recorded)
      if (type === 'AgentStarted') this.lastReports.noteAgent(data.agent_id, this.#monotonicMs());
  }

  /** Renews a claim whose holder is alive. Returns false if the claim has ended. */
  async renewClaim(taskId: string, epoch: number): Promise<boolean> {
    const live = await this.commandLoop.read(({ state }) => state.tasks.get(taskId)?.claim?.epoch === epoch);
    // The claim may have ended in the commit that the read waited for; then there is no lease to renew.
    return live.ok && live.answer && this.leases.renew(taskId, epoch, this.#monotonicMs());
  }

  /** Ends the claims that were not renewed in time. */
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

  /** Saves a snapshot, so that the next start-up folds fewer entries. */
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

/** Opens the ledger, reads the state, and gives every live claim a full lease. */
export async function openProject(options: ProjectOptions): Promise<OpenedProject> {
  const clock = new CommitClock(options.now);
  let keeper: CommandLoop | undefined;
  const opened = await openLedger({
    ...options.ledger,
    project: options.id,
    clock: () => clock.read(),
    onEntries: (entries) => {
      keeper?.receiveEntries(entries);
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
  const hindrance = await options.prepare?.(ledger, state);
  if (hindrance !== undefined) return { ok: false, problem: hindrance };
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
  keeper = new CommandLoop({
    ledger,
    state,
    rules,
    clock,
    onRecorded,
    onInternalError: onMistake,
    ...(messages === undefined ? {} : { messages }),
  });
  project = new Project(options, { ledger, state, keeper, leases, fences });
  return { ok: true, project };
}

function updateLeases(leases: Leases, recorded: readonly RecordedEvent[], nowMs: number): void {
  for (const { type, data } of recorded) {
    if (type === 'TaskClaimed') leases.renew(data.task_id, data.epoch, nowMs);
    else if (type.startsWith('Claim') && 'task_id' in data) leases.end(data.task_id ?? '');
  }
}
