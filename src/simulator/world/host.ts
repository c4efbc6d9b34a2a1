import { isDeepStrictEqual } from 'node:util';
import { judgeBegun, isDue } from '../../effects/due.ts';
import type { EngineContext } from '../../engine/context.ts';
import { lookForWork } from '../../engine/dispatch.ts';
import { advance, type Step } from '../../engine/kernel.ts';
import { findAboveLevel } from '../../engine/fleet/entry-level.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import { actorOf, type Caller, joinActor } from '../../state/caller.ts';
import { type Command, decide } from '../../state/decide.ts';
import type { Event, RecordedEvent, SettledRequest } from '../../state/event.ts';
import { effectOwner, type Here, isMine } from '../../state/fleet/owner.ts';
import { restoreState, toStateJson } from '../../state/json-form.ts';
import { toLedgerDraft } from '../../state/recorded-event.ts';
import type { Effect } from '../../state/runs/effect.ts';
import { emptyState, foldEntry, type State } from '../../state/state.ts';
import { type ReadyTasks, trackReadyTasks } from '../../state/tasks/ready.ts';
import { TrackedMap } from '../../state/tracked-map.ts';
import type { StoredEntry } from './chain.ts';
import { type Host, type KeptCall, LEASE_MS, type Reply, type World } from './parts.ts';

const AWAY: Reply = { kind: 'away' };

const EPOCH_MS = Date.parse('2026-01-01T08:00:00.000Z');

/**
 * A daemon with its own fold of the shared chain, made of the kernel's real functions: decide, advance, fold, snapshot.
 * It can end at any commit, be frozen, or lose the store; its machine keeps what is on disk.
 */
export class Daemon implements Host {
  readonly name: string;
  readonly world: World;
  state: State = tracked();
  /** Grows with each start of the daemon. */
  life = 0;
  isUp = false;
  isFrozen = false;
  isCutOff = false;
  isDiskFull = false;
  clockMs = 0;
  crashAfter: number | undefined;
  crashBeforeCommit = false;
  term: number | undefined;
  careUntilMs = 0;
  readonly outbox: KeptCall[] = [];
  readonly #begun = new Map<string, Effect>();
  #ready: ReadyTasks;
  #maps: readonly TrackedMap<string, unknown>[] = [];
  #snapshot: { readonly size: number; readonly bytes: string } | undefined;
  #isToCatchUp = false;
  /** Entries of other hosts may have made work possible here. */
  #isToLook = false;

  constructor(name: string, world: World) {
    this.name = name;
    this.world = world;
    this.#ready = trackReadyTasks(this.state, world.rules);
  }

  get here(): string | undefined {
    return this.world.isFleet ? this.name : undefined;
  }

  get hereNow(): Here | undefined {
    return this.world.isFleet ? { host: this.name, isCaretaker: this.term !== undefined } : undefined;
  }

  get isReachable(): boolean {
    return this.isUp && !this.isFrozen;
  }

  get #canStore(): boolean {
    return !this.isCutOff && !this.isDiskFull;
  }

  /** The host's clock. An entry is never earlier than the entry before it. */
  get at(): string {
    const own = EPOCH_MS + this.world.nowMs + this.clockMs;
    const newest = Date.parse(this.world.chain.entries[this.state.seq - 1]?.at ?? '') || 0;
    return new Date(Math.max(own, newest)).toISOString();
  }

  get nowMs(): number {
    return EPOCH_MS + this.world.nowMs + this.clockMs;
  }

  /** Starts the daemon: restores the newest snapshot and folds the rest. */
  start(): void {
    if (this.isUp) return;
    this.life += 1;
    this.isUp = true;
    this.crashAfter = undefined;
    this.term = undefined;
    this.#begun.clear();
    const state = this.#snapshot === undefined ? tracked() : restoreState(JSON.parse(this.#snapshot.bytes), newMap);
    this.#use(state);
    this.#fold();
    const { leases } = this.world;
    // The time in which the daemon did not run does not count against a claim that it grants itself.
    if (!this.world.isFleet)
      for (const { id, claim } of this.state.tasks.values())
        if (claim !== null) leases.set(id, { epoch: claim.epoch, untilMs: this.world.nowMs + LEASE_MS });
    const { life } = this;
    const tick = (): void => {
      if (this.life !== life || !this.isUp) return;
      if (!this.isFrozen) this.world.actors.tick(this);
      if (this.isUp) this.world.timetable.in(TICK_MS + this.world.random.below(1000), tick);
    };
    this.world.timetable.in(this.world.random.below(500), tick);
    this.reconcile();
  }

  /** Ends the daemon. What it had in memory is lost; agents go on. */
  crash(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#begun.clear();
    this.#checkFold();
  }

  /** The fold of the entries must be the state that the daemon had, also from its snapshot. */
  #checkFold(): void {
    const { seq } = this.state;
    const folded = tracked();
    for (const entry of this.world.chain.entries.slice(0, seq)) foldEntry(folded, asEntry(entry));
    if (!isDeepStrictEqual(folded, this.state)) this.world.auditor.report('fold', 'the entries fold to another state');
    if (this.#snapshot === undefined || this.#snapshot.size > seq) return;
    const restored = restoreState(JSON.parse(this.#snapshot.bytes), newMap);
    for (const entry of this.world.chain.entries.slice(this.#snapshot.size, seq)) foldEntry(restored, asEntry(entry));
    if (!isDeepStrictEqual(restored, this.state))
      this.world.auditor.report('fold', 'a snapshot and the entries after it fold to another state');
  }

  saveSnapshot(): void {
    this.#snapshot = { size: this.state.seq, bytes: JSON.stringify(toStateJson(this.state)) };
  }

  /** Decides a command as the command loop does. A repeat of an accepted key gets the same answer. */
  submit(command: Command, caller: Caller, key?: string): Reply {
    if (!this.isReachable) return AWAY;
    for (;;) {
      if (key !== undefined && this.state.settled.has(key)) return { kind: 'ok', answer: this.state.settled.get(key) };
      const outcome = decide(this.state, command, caller, this.world.rules, this.here);
      if (!outcome.ok) return { kind: 'refused', refusal: outcome.refusal };
      const { events, answer } = outcome;
      if (events.length === 0) return { kind: 'ok', answer };
      if (!this.#canStore) return AWAY;
      // The commit is refused on an older head, and the command is decided again.
      if (this.#fold()) continue;
      const above = findAboveLevel({ state: this.state }, events);
      if (above !== undefined) return { kind: 'refused', refusal: above };
      if (caller.kind === 'system' && caller.term !== undefined) this.world.auditor.actedAs(caller.term);
      return this.#commit(events, actorOf(caller), key === undefined ? undefined : { key, answer })
        ? { kind: 'ok', answer }
        : AWAY;
    }
  }

  record(events: readonly Event[], actor: string): boolean {
    if (!this.isReachable || !this.#canStore) return false;
    this.#fold();
    return this.#commit(events, actor);
  }

  #commit(events: readonly Event[], actor: string, settles?: SettledRequest): boolean {
    const before = this.state.seq;
    const steps: Step[] = [];
    for (const map of this.#maps) map.begin();
    const willFail = this.crashAfter === 0 && this.crashBeforeCommit;
    advance(this.#context(), events, settles === undefined ? { actor } : { actor, settles }, steps);
    if (willFail) {
      for (const map of this.#maps) map.revert();
      this.state.seq = before;
      for (const { recorded } of steps) this.#ready.note(this.state, recorded);
      this.crash();
      return false;
    }
    if (!this.world.chain.append(steps.map(stored), before, this.name)) throw new Error('a decision on an older head');
    if (this.crashAfter !== undefined && (this.crashAfter -= 1) < 0) {
      this.crash();
      return false;
    }
    this.reconcile();
    return true;
  }

  /** Another host has recorded entries; this one folds them soon. */
  hearOf(by: string): void {
    if (by === this.name || this.#isToCatchUp || !this.isUp) return;
    this.#isToCatchUp = true;
    this.world.timetable.in(this.world.random.below(400), () => {
      this.#isToCatchUp = false;
      this.catchUp();
    });
  }

  catchUp(): void {
    if (!this.isReachable || this.isCutOff) return;
    this.#fold();
    if (!this.#isToLook) return;
    this.#isToLook = false;
    const found = lookForWork(this.#context());
    if (found.length === 0) this.reconcile();
    else if (!this.isDiskFull) this.#commit(found, 'system:engine');
    else this.#isToLook = true;
  }

  #fold(): boolean {
    const { entries } = this.world.chain;
    if (this.isCutOff || this.state.seq === entries.length) return false;
    this.#isToLook ||= this.world.isFleet;
    for (const map of this.#maps) map.begin();
    for (const entry of entries.slice(this.state.seq)) {
      const recorded: RecordedEvent | undefined = foldEntry(this.state, asEntry(entry));
      if (recorded !== undefined) this.#ready.note(this.state, recorded);
    }
    return true;
  }

  /** Begins the effects that this host owes, and ends those that are no longer owed here. */
  reconcile(): void {
    if (!this.isReachable) return;
    const here = this.hereNow;
    for (const [key, effect] of this.#begun)
      if (judgeBegun(effect, this.state, here) !== 'here') this.#begun.delete(key);
    for (const effect of this.state.effects.values())
      if (!this.#begun.has(effect.key) && isMine(effect, this.state, here) && isDue(effect, this.state))
        this.#begin(effect);
  }

  #begin(effect: Effect): void {
    const { life } = this;
    const isCares = effectOwner(effect, this.state) === 'caretaker' && this.world.isFleet;
    const term = isCares ? this.term : undefined;
    const caller: Caller =
      term === undefined ? { kind: 'system', name: 'effects' } : { kind: 'system', name: 'caretaker', term };
    this.#begun.set(effect.key, effect);
    const isAlive = (): boolean => this.isUp && this.life === life && this.#begun.get(effect.key) === effect;
    this.world.timetable.in(this.world.random.below(300), () =>
      this.world.run(
        whileAwake(this, this.world.actors.perform(this, effect, caller)),
        isAlive,
        // It stays begun: as long as it is owed, its outcome is on the way.
      ),
    );
  }

  /** An effect that ended without an outcome is begun again. */
  forget(effect: Effect): void {
    if (this.#begun.get(effect.key) === effect) this.#begun.delete(effect.key);
  }

  #use(state: State): void {
    this.state = state;
    this.#ready = trackReadyTasks(state, this.world.rules);
    this.#maps = Object.values(state).filter((value) => value instanceof TrackedMap);
  }

  #context(): EngineContext {
    return {
      state: this.state,
      newId: () => this.world.newId('x'),
      at: this.at,
      ready: this.#ready,
      rules: this.world.rules,
      here: this.here,
    };
  }
}

const TICK_MS = 5_000;

function* whileAwake(host: Host, activity: Generator<number, void, void>): Generator<number, void, void> {
  for (;;) {
    while (host.isFrozen) yield 1000;
    const { done, value } = activity.next();
    if (done === true) return;
    yield value;
  }
}

function newMap<V>(): Map<string, V> {
  return new TrackedMap();
}

function tracked(): State {
  return emptyState(newMap);
}

function stored({ event, recorded, cause }: Step): StoredEntry {
  const { actor, via, settles, seq, at } = recorded;
  const draft = toLedgerDraft(event, joinActor(actor, via), settles, recorded);
  return { ...draft, seq, at, cause: cause?.seq ?? null };
}

function asEntry(entry: StoredEntry): Entry {
  return entry as unknown as Entry; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
