import { bootMs } from '../../api/boot-clock.ts';
import { VERSION } from '../../api/version.ts';
import { keepLeases, type LeaseBook, noteAnswer, noteGrant, remainingMs } from '../../fleet/plan/lease-book.ts';
import { turnPauseMs } from '../../fleet/plan/turn.ts';
import type { FleetTables } from '../../fleet/tables.ts';
import { toHex } from '../../ledger/format/bytes.ts';
import { isStoreUnavailable, StoreProblem } from '../../ledger/store.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { type BeatAnswer, type HostBeat, LEDGER_LEVEL } from '../../protocol/fleet.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import { findFleet, hostOf } from '../../state/fleet/fleet.ts';
import { mayCare } from '../../state/fleet/caretaker.ts';
import type { Here } from '../../state/fleet/owner.ts';
import { findUnknownEntry, type State } from '../../state/state.ts';
import type { Leases, LeaseTimes } from '../../state/tasks/lease.ts';
import type { Task } from '../../state/tasks/task.ts';
import { causeOf, type Log } from '../log.ts';
import type { CommandLoop } from '../loop/command-loop.ts';
import { CaretakerRole, levelOf, LIVE_MS } from './caretaker-role.ts';
import type { FleetMeasures } from '../views/fleet-view.ts';
import type { HostClock } from './host-clock.ts';

export interface FleetMemberOptions {
  readonly project: string;
  readonly host: string;
  /** The fingerprint of this host's key. */
  readonly key: string;
  readonly tables: FleetTables;
  readonly url: string;
  readonly ledger: Pick<Ledger, 'head' | 'replicaProblem'>;
  readonly commandLoop: Pick<CommandLoop, 'submitCommand' | 'waitingForWork'>;
  readonly state: State;
  /** The tasks with a live claim. */
  readonly claimed: Iterable<Task>;
  readonly leases: Leases;
  readonly leaseTimes: LeaseTimes;
  readonly clock: HostClock;
  readonly monotonicMs: () => number;
  /** A clock that includes sleep, because leases of the database expire while this machine sleeps. */
  readonly bootMs?: () => number;
  readonly log: Log;
  /** Called when the host becomes the caretaker or ceases to be. */
  readonly onRoleChanged: () => void;
}

/**
 * This host in the fleet of one project. It reports to the database once a tick. The answer renews its claims, decides
 * who is the caretaker, and corrects its clock.
 */
export class FleetMember {
  readonly host: string;
  readonly #options: FleetMemberOptions;
  readonly #role: CaretakerRole;
  readonly #bootMs: () => number;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #acting: Promise<void> | undefined;
  #answer: BeatAnswer | undefined;
  readonly #book: LeaseBook = new Map();
  #latencyMs: number | null = null;
  #awaySince: string | null = null;
  #refused: Problem | undefined;
  #wasCaretaker = false;

  constructor(options: FleetMemberOptions) {
    this.#options = options;
    this.host = options.host;
    this.#role = new CaretakerRole(options.host);
    this.#bootMs = options.bootMs ?? bootMs;
  }

  /** Resolves after the first answer, so that every claim of this host has a counted lease. */
  async start(): Promise<void> {
    await this.beat();
    this.#noteOwnClaims();
    this.#timer = setInterval(() => void this.beat(), this.#options.leaseTimes.tickMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    await this.#acting;
  }

  get here(): Here {
    const { state } = this.#options;
    const isCaretaker = findUnknownEntry(state) === undefined && this.#role.holds(findFleet(state), this.#bootMs());
    return { host: this.host, isCaretaker };
  }

  /** The term under which this host acts as caretaker; undefined on any other host. */
  get term(): number | undefined {
    return this.#role.term;
  }

  get tables(): FleetTables {
    return this.#options.tables;
  }

  measures(): FleetMeasures {
    const { host, ledger, url } = this.#options;
    const [awaySince, latencyMs] = [this.#awaySince, this.#latencyMs];
    const problems = [this.#refused, ledger.replicaProblem].filter((each) => each !== undefined);
    return { here: host, size: ledger.head.size, answer: this.#answer, url, awaySince, latencyMs, problems };
  }

  /** Milliseconds until waiting sessions of this host may take another host's recorded work; see `turnPauseMs`. */
  turnMs(seq: number): number {
    const eager = (this.#answer?.hosts ?? []).filter(({ silentMs, waiting }) => silentMs < LIVE_MS && waiting > 0);
    return turnPauseMs(
      this.host,
      eager.map(({ host }) => host),
      seq,
    );
  }

  /** Milliseconds for which the database has acknowledged a claim of this host; undefined for claims of other hosts. */
  sharedLease(taskId: string, epoch: number): number | undefined {
    const claim = this.#options.state.tasks.get(taskId)?.claim ?? undefined;
    if (claim?.epoch !== epoch || hostOf(claim, this.#options.state) !== this.host) return undefined;
    // A claim that was never acknowledged is unknown to other hosts, so one of them may have its task.
    return remainingMs(this.#book, { taskId, epoch }, this.#bootMs()) ?? 0;
  }

  /** Records a claim of the ledger. This host decided it at `at`, but may read the entry much later. */
  noteClaim(taskId: string, epoch: number, at: string): void {
    const { clock, leaseTimes } = this.#options;
    const agoMs = Math.max(0, clock.now().getTime() - Date.parse(at));
    noteGrant(this.#book, { taskId, epoch }, this.#bootMs() - agoMs, leaseTimes.expiryMs);
  }

  /** Requests a renewal of the current leases. Resolves after the answer, or if the database is unavailable. */
  async renewNow(): Promise<void> {
    // A running beat has older leases.
    await this.#beating;
    await this.#startBeat();
  }

  /** After a restart: a claim granted just before may have no lease row yet, and still lasts a full expiry. */
  #noteOwnClaims(): void {
    const { state, claimed } = this.#options;
    for (const { id, claim } of claimed)
      if (claim !== null && hostOf(claim, state) === this.host) this.noteClaim(id, claim.epoch, claim.at);
  }

  /**
   * Sends one beat at a time, because a hanging database must not gather a queue of beats. Commands that follow from an
   * answer are not part of the beat: if one waits for a push, the leases of this host are still renewed.
   */
  async beat(): Promise<void> {
    await this.#startBeat();
    await this.#acting;
  }

  async #startBeat(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
    });
    await this.#beating;
  }

  async #beat(): Promise<void> {
    const { tables, monotonicMs, clock, state, host } = this.#options;
    if (state.hosts.get(host)?.removed) {
      // The row of a removed host would keep another machine from taking its name.
      this.#role.read({ caretaker: null }, 0);
      return this.#announceRole();
    }
    const beat = this.#nextBeat();
    const [sentMs, begunMs] = [this.#bootMs(), monotonicMs()];
    try {
      const answer = await tables.beat(beat);
      const tripMs = monotonicMs() - begunMs;
      this.#latencyMs = Math.round(tripMs);
      clock.measure(answer.nowMs, tripMs);
      this.#acknowledge(beat, answer, sentMs);
      this.#answer = answer;
      this.#setAway(null);
      this.#refused = undefined;
      this.#role.read(answer, sentMs + beat.careMs);
      this.#acting ??= this.#act(answer).finally(() => {
        this.#acting = undefined;
        this.#announceRole();
      });
    } catch (error) {
      if (isStoreUnavailable(error) || !(error instanceof StoreProblem)) this.#setAway(error);
      else this.#setRefused(error.problem);
    }
    this.#announceRole();
  }

  /** The database answers but refuses this host. Another machine may have its name. */
  #setRefused(problem: Problem): void {
    const { log, project } = this.#options;
    if (this.#refused?.message !== problem.message)
      log.error('the report was refused', { project, cause: problem.message });
    this.#refused = problem;
  }

  #acknowledge({ leases }: HostBeat, answer: BeatAnswer, sentMs: number): void {
    const live = [...this.#options.claimed].flatMap(({ id: taskId, claim }) =>
      claim === null ? [] : [{ taskId, epoch: claim.epoch }],
    );
    noteAnswer(this.#book, leases, answer, sentMs);
    keepLeases(this.#book, live);
  }

  #nextBeat(): HostBeat {
    const { host, key, ledger, commandLoop, leases, leaseTimes, state, claimed, clock, monotonicMs } = this.#options;
    const nowMs = monotonicMs();
    const claims = [...claimed].flatMap(({ id, claim }) => {
      const holder = claim === null ? undefined : hostOf(claim, state);
      return claim === null || holder === undefined ? [] : [{ taskId: id, epoch: claim.epoch, host: holder }];
    });
    const own = claims.filter((claim) => claim.host === host);
    return {
      host,
      key,
      version: VERSION,
      level: LEDGER_LEVEL,
      size: ledger.head.size,
      hash: toHex(ledger.head.hash),
      offsetMs: clock.offsetMs,
      waiting: commandLoop.waitingForWork,
      leases: own.flatMap(({ taskId, epoch }) => {
        const leftMs = leases.remaining(taskId, nowMs) ?? 0;
        return leftMs > 0 ? [{ taskId, epoch, remainingMs: leftMs }] : [];
      }),
      mayCare: mayCare(state, host) && findUnknownEntry(state) === undefined,
      careMs: Math.max(CARE_TICKS * leaseTimes.tickMs, LEAST_CARE_MS),
      graceMs: leaseTimes.renewalMs + leaseTimes.tickMs,
      term: findFleet(state)?.caretaker?.term ?? 0,
      claims: this.here.isCaretaker ? claims.map((claim) => ({ ...claim, expiryMs: leaseTimes.expiryMs })) : null,
    };
  }

  /** Records what follows from the answer. */
  async #act({ caretaker, hosts, expired }: BeatAnswer): Promise<void> {
    const { state, host } = this.#options;
    if (caretaker?.host !== host) return;
    const { term } = caretaker;
    if (findFleet(state)?.caretaker?.term !== term)
      await this.#submit({ kind: 'change-caretaker', command: { host, term } });
    if (!this.here.isCaretaker) return;
    const level = levelOf(hosts, state);
    if (level > (findFleet(state)?.level ?? level)) await this.#submit({ kind: 'raise-level', command: { level } });
    const over = expired.filter(({ taskId, epoch }) => state.tasks.get(taskId)?.claim?.epoch === epoch);
    // The holder cannot renew an ended lease, so its kept messages wait for this entry. It must not wait for them.
    const expire = ({ taskId: id, epoch }: (typeof over)[number]) =>
      this.#submit({ kind: 'expire-claim', command: { id, epoch } }, { overtakesKept: true });
    await Promise.all(over.map(expire));
  }

  async #submit(command: Command, options: { readonly overtakesKept?: true } = {}): Promise<void> {
    const { commandLoop, log, project } = this.#options;
    const caller: Caller = {
      kind: 'system',
      name: 'caretaker',
      ...(this.term === undefined ? {} : { term: this.term }),
    };
    const settled = await commandLoop.submitCommand(command, caller, options);
    if (settled.ok) return;
    const cause = 'refusal' in settled ? settled.refusal.message : settled.problem.message;
    log.info('the caretaker could not record an outcome', { project, command: command.kind, cause });
  }

  #setAway(error: unknown): void {
    const { log, project, clock } = this.#options;
    if (error === null) {
      if (this.#awaySince !== null) log.info('the database answers again', { project, since: this.#awaySince });
      this.#awaySince = null;
    } else if (this.#awaySince === null) {
      this.#awaySince = clock.now().toISOString();
      log.error('the database does not answer', { project, cause: causeOf(error) });
    }
  }

  #announceRole(): void {
    const { isCaretaker } = this.here;
    if (isCaretaker === this.#wasCaretaker) return;
    this.#wasCaretaker = isCaretaker;
    const { log, project } = this.#options;
    if (isCaretaker) log.info('this host is the caretaker', { project, term: this.term ?? 0 });
    else log.info('this host is no longer the caretaker', { project });
    this.#options.onRoleChanged();
  }
}

const CARE_TICKS = 3.5;
/** If shorter, a busy machine loses the lease between two beats. If longer, a successor needs more than 5 seconds. */
const LEAST_CARE_MS = 3500;
