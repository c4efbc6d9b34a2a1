import type { StoreHealth } from '../protocol/resource-faults.ts';

/** Why there is no all-clear, in the words that every surface shows. */
export interface Reason {
  readonly kind: ReasonKind;
  /** How many things this stands for. */
  readonly count: number;
  readonly task_id: string | null;
  readonly title: string;
  /** Details; may be empty. */
  readonly context: string;
  /** The command to type. */
  readonly next: string;
}

export type ReasonKind =
  | 'store'
  | 'loop'
  | 'daemon'
  | 'outbox'
  | 'decision'
  | 'runbook'
  | 'main'
  | 'stuck'
  | 'silent'
  | 'unserved'
  | 'blocked'
  | 'cancelled';

/** Not exported, so that only the functions below make proofs, and each only from its own measurement. */
const PROVES = Symbol('proves');

/** The outcome of one measurement: the reasons against an all-clear, none if there are none. */
export interface Proof<K extends string> {
  readonly [PROVES]: K;
  readonly reasons: readonly Reason[];
}

/** The reasons of a proof; throws if it proves something else, or was not made here. */
export function reasonsOf<K extends string>(proof: Proof<K>, what: K): readonly Reason[] {
  const made: Partial<Proof<K>> | undefined = proof;
  if (made?.[PROVES] !== what) throw new Error(`there is no proof about the ${what}`);
  return proof.reasons;
}

export function proveStore(health: StoreHealth): Proof<'store'> {
  if (health.writable) return createProof('store', []);
  const { since, reason, hint, what } = health;
  const cannot = `The ${what === 'folder' ? 'state folder' : 'ledger'} cannot be written`;
  const title = since === '' ? cannot : `${cannot} since ${since}`;
  return createProof('store', [{ ...ONE, kind: 'store', title, context: reason, next: hint }]);
}

/** How far the daemon's loop is behind its own clock, and how far it may be. */
export interface LoopMeasure {
  readonly lagMs: number;
  readonly boundMs: number;
}

export function proveLoop({ lagMs, boundMs }: LoopMeasure): Proof<'loop'> {
  // Not `lagMs > boundMs`: what is no number proves nothing.
  if (lagMs <= boundMs) return createProof('loop', []);
  const title = `The daemon's event loop stood still for ${seconds(lagMs)}`;
  const context = 'Something blocked it: a slow disk, a machine that was suspended, or too much work at once.';
  return createProof('loop', [{ ...ONE, kind: 'loop', title, context, next: 'baton status' }]);
}

/** How long an agent has not been heard of, and how long it may be silent now: `limits.silence`, or more while it waits for a tool. */
export interface SilenceMeasure {
  readonly silentMs: number;
  readonly limitMs: number;
}

export interface RunningAgent {
  readonly id: string;
  readonly name: string;
  readonly taskId: string | null;
}

/** Asks for a measurement of each agent that counts as running; an agent without one is a reason. */
export function proveAgents(
  running: readonly RunningAgent[],
  measure: (agentId: string) => SilenceMeasure | undefined,
): Proof<'agents'> {
  const silent = running.flatMap((agent): Reason[] => {
    const measured = measure(agent.id);
    if (measured !== undefined && measured.silentMs <= measured.limitMs) return [];
    const since = measured === undefined ? '' : ` for ${seconds(measured.silentMs)}`;
    const title = `Agent ${agent.name} ${agent.id.slice(0, 8)} has not reported${since}`;
    const context =
      measured === undefined ? 'The daemon has no report of it.' : `It may be silent for ${seconds(measured.limitMs)}.`;
    return [{ kind: 'silent', count: 1, task_id: agent.taskId, title, context, next: `baton agent show ${agent.id}` }];
  });
  return createProof(
    'agents',
    summarizeReasons(silent, (count) => ({ title: `${count} more agents are silent`, next: 'baton agent list' })),
  );
}

/** A task that waits in a phase that no worker serves. */
export interface UnservedTask {
  readonly id: string;
  readonly title: string;
  readonly phase: string;
  readonly role: string | null;
  /** The command that takes it up. */
  readonly next: string;
}

export function provePhases(unserved: readonly UnservedTask[]): Proof<'phases'> {
  const reasons = unserved.map(({ id, title, phase, role, next }): Reason => {
    const context = `It is ${phase}${role === null ? '' : `, next role ${role}`}.`;
    return { kind: 'unserved', count: 1, task_id: id, title: `No worker takes task ${id} ${title}`, context, next };
  });
  const more = (count: number) => ({ title: `no worker takes ${count} more tasks`, next: 'baton task list' });
  return createProof('phases', summarizeReasons(reasons, more));
}

/** What already waits for a person: open decisions, and whatever else `kind` names. */
export function provePeople(
  decisions: readonly {
    readonly id: string;
    readonly title: string;
    readonly context: string;
    readonly task_id: string | null;
  }[],
  others: readonly Reason[],
): Proof<'people'> {
  const asked = decisions.map(({ id, title, context, task_id }): Reason => ({
    kind: 'decision',
    count: 1,
    task_id,
    title,
    context,
    next: `baton decision show ${id}`,
  }));
  return createProof('people', [...asked, ...others]);
}

function createProof<K extends string>(what: K, reasons: readonly Reason[]): Proof<K> {
  return { [PROVES]: what, reasons };
}

/** The first few reasons, then one line that counts the rest. */
export function summarizeReasons(
  reasons: readonly Reason[],
  more: (count: number) => { readonly title: string; readonly next: string },
): readonly Reason[] {
  const [first] = reasons;
  // A line that counts one more takes as much room as to show it.
  if (first === undefined || reasons.length <= MAX_LISTED + 1) return reasons;
  const count = reasons.length - MAX_LISTED;
  return [...reasons.slice(0, MAX_LISTED), { kind: first.kind, count, task_id: null, context: '', ...more(count) }];
}

const MAX_LISTED = 5;

const ONE = { count: 1, task_id: null } as const;

function seconds(ms: number): string {
  return ms >= 120_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 1000)} s`;
}
