import { claimsToRenew } from '../../effects/agents/liveness.ts';
import { mayGiveWork } from '../../engine/makes-room.ts';
import type { FleetRole } from '../../effects/context.ts';
import type { Effects } from '../../effects/effects.ts';
import { KeyedMutex } from '../../effects/locks.ts';
import { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { awaySinceOf, type StoreHealth } from '../../protocol/resource-faults.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import { type Rules, rulesInForce } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import type { Leases } from '../../state/tasks/lease.ts';
import { isClaimed, TaskIndex } from '../../state/tasks/task-index.ts';
import type { CommandLoop } from '../loop/command-loop.ts';
import { type CommandResult, type KeptMessages, NO_KEPT_MESSAGES } from '../loop/request.ts';
import type { Adoptions } from '../rules/adoptions.ts';
import type { Fences } from './fences.ts';
import { closeFences } from '../fleet/await-lease.ts';
import { FleetMember } from '../fleet/fleet-member.ts';
import { MainWatch } from './main-watch.ts';
import type { ProjectOptions, ProjectParts } from './project-options.ts';
import { RecentIds } from './recent-ids.ts';
import { findSharedMain, loginConfigOf } from './remote-main.ts';
import { LastReports } from './silence.ts';
import { Snapshots } from './snapshots.ts';
import { FolderProbe, StoreWatch } from './storage-health.ts';

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
  /** Undefined on SQLite. */
  readonly fleet: FleetMember | undefined;
  readonly mainWatch: MainWatch;
  /** Processes in a sandbox whose start or end may not be recorded yet. */
  readonly isolated = new RecentIds();
  /** Locks by branch: only one effect at a time starts work on a branch or removes its worktree. */
  readonly places = new KeyedMutex();
  readonly lastReports: LastReports;
  readonly #claimed: TaskIndex;
  readonly #state: State;
  readonly #monotonicMs: () => number;
  readonly #ticking: NodeJS.Timeout;
  readonly #onTick: (nowMs: number) => void;
  readonly #folderProbe: FolderProbe;
  readonly #storeWatch: StoreWatch;
  readonly #messages: KeptMessages;
  #effects: Effects | undefined;
  #onRoleChanged: () => void = () => undefined;
  #stopWatching: () => void = () => undefined;
  #looking: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #snapshots: Snapshots;

  constructor(options: ProjectOptions, parts: ProjectParts) {
    this.id = options.id;
    this.path = options.path;
    this.stateDir = options.stateDir;
    this.own = new OwnRepositoryImporter(
      { stateDir: options.stateDir, projectId: options.id, path: options.path },
      options.onImport,
      () => findSharedRemote(parts.state),
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
      shared: () => findSharedMain(parts.state, this.here),
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
    this.#snapshots = new Snapshots({
      ...parts,
      monotonicMs: options.monotonicMs,
      onError: (error) => options.onSnapshotError?.(error),
      ...(options.snapshotLimits === undefined ? {} : { limits: options.snapshotLimits }),
    });
    this.#claimed = new TaskIndex(parts.state, isClaimed);
    this.fleet = this.#createMember(options);
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

  /** Whether the ledger's database is unavailable, as far as known without a request. */
  get isAway(): boolean {
    return awaySinceOf(this.ledger.health) !== undefined;
  }

  get isWritable(): boolean {
    return this.ledger.health.writable && this.#folderProbe.probe(FRESH_MS).writable;
  }

  /** This host in its fleet; undefined on SQLite, where one host does everything. */
  get here(): FleetRole | undefined {
    return this.fleet && { ...this.fleet.here, term: this.fleet.term };
  }

  read<A>(select: (state: State) => A): A {
    return select(this.#state);
  }

  /** `onCaretaker` is called when this host becomes the caretaker. */
  async joinFleet(onCaretaker: () => void): Promise<void> {
    this.#onRoleChanged = () => {
      this.#effects?.reconcile(this.#state);
      if (this.here?.isCaretaker === true) onCaretaker();
    };
    this.#stopWatching = this.ledger.store.watch(({ size }) => {
      if (size > this.ledger.head.size) void this.ledger.catchUp();
    });
    await this.fleet?.start();
    // Tasks may have waited for this host, because no other host fills its room.
    if (this.fleet !== undefined) this.#lookSoon();
  }

  #createMember({ fleet, leaseTimes, monotonicMs }: ProjectOptions): FleetMember | undefined {
    if (fleet === undefined) return undefined;
    const { id, ledger, commandLoop, leases } = this;
    const onRoleChanged = (): void => this.#onRoleChanged();
    const state = this.#state;
    return new FleetMember({
      ...fleet,
      project: id,
      ledger,
      commandLoop,
      leases,
      leaseTimes,
      monotonicMs,
      state,
      claimed: this.#claimed,
      onRoleChanged,
    });
  }

  /** Looks for work after an entry of another host, which has filled its own room. A random pause avoids collisions. */
  onForeign(recorded: readonly RecordedEvent[]): number | undefined {
    if (!recorded.some(mayGiveWork)) return undefined;
    this.#lookSoon();
    return this.fleet?.turnMs(recorded.at(-1)?.seq ?? 0) ?? 0;
  }

  #lookSoon(): void {
    if (this.#looking !== undefined || this.#isClosed) return;
    const pauseMs = SHORTEST_PAUSE_MS + Math.random() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS);
    this.#looking = setTimeout(() => {
      this.#looking = undefined;
      void this.commandLoop.lookForWork();
    }, pauseMs).unref();
  }

  /** Undefined before the effects of the project have started. */
  get judgeChecks(): Effects['judgeChecks'] | undefined {
    return this.#effects?.judgeChecks;
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

  /** In a fleet, a session's work is pushed before its end is recorded. */
  holdBack(recorded: readonly RecordedEvent[]): Promise<void> | undefined {
    return this.#effects?.holdBack(recorded);
  }

  applyRecorded(recorded: readonly RecordedEvent[]): void {
    this.#claimed.follow(recorded);
    this.#snapshots.follow();
    this.#effects?.reconcile(this.#state);
    this.#effects?.onRecorded(recorded);
    this.mainWatch.follow(recorded);
    for (const { type, data, at } of recorded) {
      if (type === 'AgentStarted') this.lastReports.noteAgent(data.agent_id, this.#monotonicMs());
      if (type === 'TaskClaimed') this.fleet?.noteClaim(data.task_id, data.epoch, at);
    }
  }

  /** Renews the claim if it is live. Returns whether it was. */
  async renewClaim(taskId: string, epoch: number): Promise<CommandResult<boolean>> {
    const live = await this.commandLoop.read(({ state }) => state.tasks.get(taskId)?.claim?.epoch === epoch);
    // The claim may have ended in the commit that the read waited for.
    return live.ok && live.answer ? { ok: true, answer: this.leases.renew(taskId, epoch, this.#monotonicMs()) } : live;
  }

  /** Milliseconds for which the store has acknowledged a claim of this host. Null if the store is not shared. */
  leaseMs(taskId: string, epoch: number): number | null {
    return this.fleet?.sharedLease(taskId, epoch) ?? null;
  }

  /** Expires claims. In a fleet the caretaker asks the database. */
  async expireClaims(): Promise<void> {
    if (this.fleet !== undefined) return;
    const expired = this.leases.expired(this.#monotonicMs());
    await Promise.all(
      expired.map(({ taskId, epoch }) =>
        this.commandLoop.submitCommand({ kind: 'expire-claim', command: { id: taskId, epoch } }, SYSTEM),
      ),
    );
  }

  #tick(): void {
    const nowMs = this.#monotonicMs();
    for (const { taskId, epoch } of claimsToRenew(this.#state, this.here)) this.leases.renew(taskId, epoch, nowMs);
    if (this.fleet !== undefined) closeFences(this.fences, this.#state, this.fleet);
    void this.expireClaims();
    this.#effects?.tick(this.#state);
    this.mainWatch.pollIfDue(nowMs);
    this.lastReports.keepOnly((id) => this.#state.agents.get(id)?.process === 'running');
    this.#storeWatch.probeIfDue(nowMs);
    this.#onTick(nowMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#ticking);
    clearTimeout(this.#looking);
    this.#stopWatching();
    await this.fleet?.close();
    await this.#effects?.close();
    await this.mainWatch.close();
    await this.commandLoop.whenIdle();
    await this.ledger.close();
    await this.#snapshots.close();
  }
}

const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;
/** A successful write within this time proves that the store is writable. */
const FRESH_MS = 2000;
const SYSTEM = { kind: 'system', name: 'daemon' } as const;
