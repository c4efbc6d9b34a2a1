import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { findFleet, findHost } from '../../state/fleet/fleet.ts';
import { effectOwner, isMine } from '../../state/fleet/owner.ts';
import * as fleet from '../../state/fleet/say.cases.ts';
import type { Rules } from '../../state/rules.ts';
import type { Effect } from '../../state/runs/effect.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { create, operator, system } from '../../state/say.cases.ts';
import { isDue } from '../../effects/due.ts';
import { type Applied, rehearse } from '../kernel.ts';
import { Play } from '../play.cases.ts';
import { settle, type Speech } from '../speech.cases.ts';
import { coders } from './fleet.cases.ts';
import { findFleetFault } from './fleet-faults.cases.ts';

/**
 * The data that all hosts share: the chain, which accepts a commit only on the head that the decision saw, and the
 * caretaker's lease row.
 */
class Shared {
  readonly chain: RecordedEvent[] = [];
  lease = { host: 'alpha', term: 1 };
  /**
   * The host that performed each effect, by key and seq. For the caretaker's effects also by term, because their target
   * refuses the older term.
   */
  readonly performed = new Map<string, string>();

  append(entries: readonly RecordedEvent[], after: number): boolean {
    if (after !== this.chain.length) return false;
    this.chain.push(...(JSON.parse(JSON.stringify(entries)) as RecordedEvent[])); // oxlint-disable-line typescript/no-unsafe-type-assertion
    return true;
  }
}

/** A daemon with its own fold, which lags until it catches up. It may be frozen between an effect and its report. */
class SimHost extends Play {
  readonly name: string;
  readonly #shared: Shared;
  /** The term of the caretaker's lease, as far as this host knows; undefined if it has none. */
  term: number | undefined;
  readonly reports: (readonly [Command, Caller])[] = [];
  readonly #done = new Set<string>();

  constructor(name: string, shared: Shared, rules: Partial<Rules>) {
    super(rules);
    this.name = name;
    this.on(name);
    this.#shared = shared;
  }

  catchUp(): void {
    this.receive(this.#shared.chain.slice(this.entries.length));
  }

  /** A decision on an old head is a conflict. It is made again after catching up. */
  override attempt(command: Command, caller: Caller): Applied<unknown> {
    const after = this.entries.length;
    if (after < this.#shared.chain.length) {
      const { state, rules, at } = this;
      let ids = 0;
      const newId = (): string => `stale${(ids += 1)}`;
      const stale = rehearse({ state, rules, at, newId, here: this.name }, [command], caller);
      if (
        stale.ok &&
        this.#shared.append(
          stale.steps.map(({ recorded }) => recorded),
          after,
        )
      )
        throw new Error('a stale decision was recorded');
      this.catchUp();
    }
    return this.#commit(() => super.attempt(command, caller));
  }

  lookAround(): void {
    this.catchUp();
    this.#commit(() => super.look());
  }

  #commit<A>(decide: () => A): A {
    const after = this.entries.length;
    const decided = decide();
    if (this.last.length > 0 && this.entries.length > after && !this.#shared.append(this.last, after))
      throw new Error('the head moved during a decision');
    const fault = findFleetFault(this.state, this.last, this.name);
    if (fault !== undefined) throw new Error(`${fault}\n${this.story()}`);
    return decided;
  }

  /** Performs one of this host's effects, on the state that it knows. The report follows later. */
  perform(i: number, how: string): void {
    const here = { host: this.name, isCaretaker: this.term !== undefined };
    const { state } = this;
    const mine = [...state.effects.values()].filter(
      (effect) => isMine(effect, state, here) && isDue(effect, state) && !this.#done.has(keyOf(effect)),
    );
    const effect = mine[i % Math.max(1, mine.length)];
    if (effect === undefined) return;
    const isCares = effectOwner(effect, state) === 'caretaker';
    const key = `${keyOf(effect)}${isCares ? ` in term ${this.term ?? 0}` : ''}`;
    const other = this.#shared.performed.get(key);
    if (other !== undefined && other !== this.name)
      throw new Error(`${key}: by ${other} and ${this.name}\n${this.story()}`);
    this.#shared.performed.set(key, this.name);
    this.#done.add(keyOf(effect));
    const caller = isCares ? fleet.caretaker(this.term ?? 0) : system;
    this.reports.push([settle(this, effect, how), caller]);
  }

  /** Reports the outcomes. Those of an older term change nothing. */
  report(): void {
    const [command, caller] = this.reports.shift() ?? [];
    if (command === undefined || caller === undefined) return;
    const before = this.#shared.chain.length;
    const applied = this.attempt(command, caller);
    const current = findFleet(this.state)?.caretaker?.term ?? 0;
    const isStale = caller.kind === 'system' && (caller.term ?? current) < current;
    if (isStale && (applied.ok || this.#shared.chain.length > before))
      throw new Error(`a caretaker of an older term was heard\n${this.story()}`);
  }
}

function keyOf({ key, seq }: Effect): string {
  return `${key} of ${seq}`;
}

/** Several hosts on one chain. */
export class FleetPlay {
  readonly hosts: readonly SimHost[];
  readonly shared = new Shared();

  constructor(names: readonly string[], rules: Partial<Rules>) {
    this.hosts = names.map((name) => new SimHost(name, this.shared, rules));
    const [founder, ...others] = this.hosts;
    if (founder === undefined) throw new Error('a fleet has a host');
    founder.say(fleet.found(founder.name, { agents: 2 }));
    for (const { name } of others) founder.order(fleet.admit(name, { agents: 2 }));
    this.care(founder);
    founder.order(runs.configure([coders()]));
    for (const id of ['A', 'B', 'C', 'D', 'E', 'F']) founder.order(create(id));
  }

  host(i: number): SimHost {
    return this.hosts[i % this.hosts.length] ?? this.host(0);
  }

  /** A session's token is known only to the daemon that issued it. */
  speak(i: number, speech: Speech): void {
    const host = this.host(i);
    const said = speech(host);
    if (said === undefined) return;
    const [command, caller] = said;
    const claim = caller.kind === 'session' ? host.state.tasks.get(caller.taskId)?.claim : undefined;
    const at = claim ? (this.hosts.find(({ name }) => name === claim.host) ?? host) : host;
    at.attempt(command, caller);
  }

  /** Grants the caretaker's lease to a host. The previous caretaker does not know until it asks. */
  care(host: SimHost): void {
    const { lease } = this.shared;
    this.shared.lease = { host: host.name, term: lease.term + 1 };
    host.attempt(fleet.care(host.name, lease.term + 1), system);
    if (findHost(host.state, host.name) !== undefined) host.term = lease.term + 1;
  }

  /** Simulates that the caretaker found an expired lease row. */
  expire(i: number): void {
    const keeper = this.hosts.find(({ name }) => name === this.shared.lease.host);
    const claimed = [...(keeper?.state.tasks.values() ?? [])].filter(({ claim }) => claim !== null);
    const task = claimed[i % Math.max(1, claimed.length)];
    if (keeper?.term === undefined || task === undefined) return;
    const expired = { kind: 'expire-claim', command: { id: task.id, epoch: task.epoch } } as const;
    keeper.attempt(expired, fleet.caretaker(keeper.term));
  }

  push(i: number, isPushed: boolean): void {
    const host = this.host(i);
    const task = [...host.state.tasks.values()].find(({ claim }) => claim?.host === host.name);
    if (task === undefined) return;
    const { id, epoch } = task;
    host.attempt(
      isPushed ? fleet.pushed(host.name, epoch, String(i), id) : fleet.pushFailed(host.name, epoch, 'no', id),
      system,
    );
  }

  govern(i: number, what: 'drain' | 'take back' | 'remove' | 'admit'): void {
    const isIn = ({ name: each }: SimHost): boolean => findHost(this.host(i).state, each) !== undefined;
    const host = this.hosts.find(isIn) ?? this.host(i);
    const { name } = (what === 'admit' ? this.hosts.find((each) => !isIn(each)) : undefined) ?? this.host(i + 1);
    const commands = {
      drain: fleet.drain(name),
      'take back': fleet.drain(name, false),
      remove: fleet.remove(name),
      admit: fleet.admit(name, { agents: 1 + (i % 3) }),
    };
    host.attempt(commands[what], operator);
  }
}
