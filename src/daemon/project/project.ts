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
import { decide } from '../../state/decide.ts';
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
  /** The top of its repository. */
  readonly path: string;
  readonly stateDir: string;
  readonly ledger: Omit<LedgerOptions, 'project' | 'clock' | 'onEntries'>;
  readonly rules: Rules;
  readonly leaseTimes: LeaseTimes;
  /** Loads what decisions need, before any is made. What comes back keeps the project closed. */
  readonly prepare?: (ledger: Ledger, state: State) => Promise<Problem | undefined>;
  readonly now: () => Date;
  /** A clock that never jumps, in milliseconds. */
  readonly monotonicMs: () => number;
  /** Everything that is durable, in order, for whoever listens. */
  readonly onEntries?: (entries: readonly Entry[]) => void;
  /** Something threw that must not: for the log. */
  readonly onMistake?: (error: unknown) => void;
  /** While commits are copied into Baton's own repository: how far that is. */
  readonly onImport?: (line: string) => void;
  /** A snapshot was not read, and why: the entries were folded again instead. For the log. */
  readonly onDiscarded?: (name: string, why: string) => void;
  /** The outbox, as far as it concerns this project. */
  readonly messages?: KeptMessages;
  /** The store can no longer be written, or can be written again. */
  readonly onStoreHealth?: (health: StoreHealth) => void;
  /** At every tick of the clock that claims run out by. */
  readonly onTick?: (nowMs: number) => void;
}

/** One repository under care: its ledger, its state, its claims. */
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
  /** Which runbook the project goes by; a project without a daemon around it adopts none. */
  adoptions: Adoptions | undefined;
  readonly mainWatch: MainWatch;
  /** One at a time begins to work on a branch, or removes its worktree. */
  readonly places = new KeyedMutex();
  /** When each running agent was last heard of. */
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

  /** Processes of agents that live now, as far as was heard. */
  get liveAgents(): number {
    return [...this.#state.agents.values()].filter(({ process }) => process === 'running').length;
  }

  /** For how long messages of its sessions have waited in the outbox and could not be recorded. */
  get messagesBlockedMs(): number {
    return this.#messages.blockedMs();
  }

  /** Whether anything can be recorded: since when not, why, and what to do. Tries it if the last success is a while ago. */
  async storeHealth(): Promise<StoreHealth> {
    const health = await this.ledger.probe(FRESH_MS);
    return health.writable ? this.#folderProbe.probe(FRESH_MS) : health;
  }

  /** The same as far as it is known at once. */
  get isWritable(): boolean {
    return this.ledger.health.writable && this.#folderProbe.probe(FRESH_MS).writable;
  }

  /** From now on what the project owes to the outside is done. */
  startEffects(effects: Effects): void {
    void this.commandLoop
      .read(({ state }) => state.seq)
      .then(() => {
        if (this.#isClosed) return;
        this.#effects = effects;
        effects.recover(this.#state);
      });
  }

  /** What was recorded is durable: the state is what everybody may act on. */
  applyRecorded(recorded: readonly RecordedEvent[]): void {
    this.#effects?.reconcile(this.#state);
    this.#effects?.onRecorded(recorded);
    this.mainWatch.follow(recorded);
    for (const { type, data } of recorded)
      if (type === 'AgentStarted') this.lastReports.noteAgent(data.agent_id, this.#monotonicMs());
  }

  /** The holder lives: its claim goes on. False where it has none any more. */
  async renewClaim(taskId: string, epoch: number): Promise<boolean> {
    const live = await this.commandLoop.read(({ state }) => state.tasks.get(taskId)?.claim?.epoch === epoch);
    // It may have ended in the commit that the look at it has waited for.
    return live.ok && live.answer && this.leases.renew(taskId, epoch, this.#monotonicMs());
  }

  /** Ends the claims whose holders were not heard of. */
  async expireClaims(): Promise<void> {
    const expired = this.leases.expired(this.#monotonicMs());
    await Promise.all(
      expired.map(({ taskId, epoch }) =>
        this.commandLoop.submit({
          actor: 'system:daemon',
          decide: ({ state, rules }) =>
            decide(state, { kind: 'expire-claim', command: { id: taskId, epoch } }, SYSTEM, rules),
        }),
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

  /** Keeps what start-up would otherwise have to fold again. */
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

/** A write that succeeded this short a time ago proves that the store can be written. */
const FRESH_MS = 2000;

const SYSTEM = { kind: 'system', name: 'daemon' } as const;

function loginConfigOf({ pulls }: Rules): readonly string[] {
  const repository = pulls === undefined ? undefined : parseRepository(pulls.repository);
  return repository === undefined ? [] : ghLoginConfig(repository);
}

export type OpenedProject =
  | { readonly ok: true; readonly project: Project }
  | { readonly ok: false; readonly problem: Problem };

/** Opens the ledger, folds the state from the newest snapshot on, and gives every live claim a full interval. */
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
