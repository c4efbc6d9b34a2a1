import type { StoreHealth } from '../protocol/resource-faults.ts';

/** What must be proved before a surface may show that nothing needs a person. Each proof comes from a measurement: see `proofs.ts`. */
export interface Proofs {
  /** The store of the project can be written. */
  readonly store: Proof<'store'>;
  /** The daemon's loop turns. */
  readonly loop: Proof<'loop'>;
  /** Every agent that counts as running has reported within `limits.silence`. */
  readonly agents: Proof<'agents'>;
  /** No task waits in a phase that no worker serves. */
  readonly phases: Proof<'phases'>;
  /** No decision is open, no task is blocked, the runbook and the main branch are in order. */
  readonly people: Proof<'people'>;
}

/** What every surface shows: the all-clear, or why there is none. */
export interface AllClear {
  readonly all_clear: boolean;
  /** The one line that every surface shows as it stands. */
  readonly summary: string;
  /** How many things need a person. */
  readonly needs: number;
  readonly reasons: readonly Reason[];
}

/**
 * The only place that makes "Nothing needs you". Surfaces print `summary` as it is; a surface with no answer, or only an old one, shows that
 * instead.
 */
export function judgeAllClear(proofs: Proofs, running: number): AllClear {
  const { store, loop, people, agents, phases } = proofs;
  const reasons = [
    ...reasonsOf(store, 'store'),
    ...reasonsOf(loop, 'loop'),
    ...reasonsOf(people, 'people'),
    ...reasonsOf(agents, 'agents'),
    ...reasonsOf(phases, 'phases'),
  ];
  const needs = reasons.reduce((sum, { count }) => sum + count, 0);
  const runs = running === 0 ? 'nothing runs' : `${running} running`;
  const all_clear = reasons.length === 0;
  return {
    all_clear,
    summary: `${all_clear ? 'Nothing needs you' : renderReasons(reasons, needs)}, ${runs}.`,
    needs,
    reasons,
  };
}

/** `1 decision, 2 blocked tasks need you` */
function renderReasons(reasons: readonly Reason[], needs: number): string {
  const counts = [...Map.groupBy(reasons, ({ kind }) => kind)].map(([kind, those]) => {
    const count = those.reduce((sum, each) => sum + each.count, 0);
    return `${count} ${NOUNS[kind]}${count === 1 ? '' : 's'}`;
  });
  return `${counts.join(', ')} ${needs === 1 ? 'needs' : 'need'} you`;
}

const NOUNS: Readonly<Record<ReasonKind, string>> = {
  store: 'unwritable store',
  loop: 'slow daemon',
  daemon: 'crashing daemon',
  outbox: 'undelivered outbox',
  decision: 'decision',
  runbook: 'broken runbook',
  main: 'main branch',
  stuck: 'stuck run',
  silent: 'silent agent',
  unserved: 'unserved task',
  blocked: 'blocked task',
  cancelled: 'cancelled task',
};

/** A run as far as it is counted. */
export interface CountedRun {
  readonly status: string;
  /** The pipeline that it is part of; null for one that stands by itself. */
  readonly within: string | null;
}

/** How many runs are at work: top-level pipelines and agents that do not wait for a person. */
export function countAtWork(runs: readonly CountedRun[]): number {
  return runs.filter(({ within, status }) => within === null && status !== 'waiting' && status !== 'escalated').length;
}

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

export const REASON_KINDS = [
  'store',
  'loop',
  'daemon',
  'outbox',
  'decision',
  'runbook',
  'main',
  'stuck',
  'silent',
  'unserved',
  'blocked',
  'cancelled',
] as const;
export type ReasonKind = (typeof REASON_KINDS)[number];

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

/** How long an agent has not reported, and how long it may be silent: `limits.silence`, or more while it waits for a tool. */
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
