import type { StoreHealth } from '../protocol/resource-faults.ts';

export interface Proofs {
  readonly store: Proof<'store'>;
  readonly commands: Proof<'commands'>;
  readonly loop: Proof<'loop'>;
  readonly agents: Proof<'agents'>;
  readonly phases: Proof<'phases'>;
  readonly people: PeopleProof;
}

export interface AllClear {
  readonly all_clear: boolean;
  readonly summary: string;
  readonly needs: number;
  readonly reasons: readonly Reason[];
}

/** The only place that makes "Nothing needs you". A surface without a current answer must show that instead. */
export function judgeAllClear(proofs: Proofs, running: number): AllClear {
  const { store, commands, loop, people, agents, phases } = proofs;
  const unsorted = [
    ...reasonsOf(store, 'store'),
    ...reasonsOf(commands, 'commands'),
    ...reasonsOf(loop, 'loop'),
    ...reasonsOf(people, 'people'),
    ...reasonsOf(agents, 'agents'),
    ...reasonsOf(phases, 'phases'),
  ];
  const reasons = unsorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  const needs = reasons.reduce((sum, { count }) => sum + count, 0);
  const { answered } = people;
  const all_clear = reasons.length === 0 && answered === 0;
  const parts = [
    ...(all_clear ? ['Nothing needs you'] : []),
    ...(reasons.length === 0 ? [] : [renderReasons(reasons, needs)]),
    ...(answered === 0 ? [] : [`${answered} ${answered === 1 ? 'answer takes' : 'answers take'} effect soon`]),
    running === 0 ? 'nothing runs' : `${running} running`,
  ];
  return {
    all_clear,
    summary: `${parts.join(', ')}.`,
    needs,
    reasons,
  };
}

/** Questions first, then faults, then work that waits. */
function rankOf({ kind }: Reason): number {
  return kind === 'decision' ? 0 : kind === 'unserved' ? 2 : 1;
}

function renderReasons(reasons: readonly Reason[], needs: number): string {
  const counts = [...Map.groupBy(reasons, ({ kind }) => kind)].map(([kind, those]) => {
    const count = those.reduce((sum, each) => sum + each.count, 0);
    return `${count} ${NOUNS[kind]}${count === 1 ? '' : 's'}`;
  });
  return `${counts.join(', ')} ${needs === 1 ? 'needs' : 'need'} you`;
}

const NOUNS = {
  store: 'unwritable store',
  database: 'unreachable database',
  commands: 'stopped project',
  repository: 'missing repository',
  failed: 'failed run',
  loop: 'slow daemon',
  daemon: 'crashing daemon',
  outbox: 'undelivered outbox',
  decision: 'decision',
  runbook: 'broken runbook',
  rules: 'looser runbook',
  proposal: 'changed runbook',
  main: 'main branch',
  stuck: 'stuck run',
  silent: 'silent agent',
  frozen: 'frozen agent',
  worker: 'idle worker',
  unserved: 'unserved task',
  blocked: 'blocked task',
  cancelled: 'cancelled task',
  host: 'silent host',
  clock: 'wrong clock',
  push: 'unpushed task',
  joining: 'waiting host',
  version: 'outdated host',
} as const;

export type ReasonKind = keyof typeof NOUNS;
export const REASON_KINDS = Object.keys(NOUNS) as ReasonKind[]; // oxlint-disable-line typescript/no-unsafe-type-assertion

export interface CountedRun {
  readonly status: string;
  readonly within: string | null;
}

export function countAtWork(runs: readonly CountedRun[]): number {
  return runs.filter(({ within, status }) => within === null && status !== 'waiting' && status !== 'escalated').length;
}

export interface Reason {
  readonly kind: ReasonKind;
  readonly count: number;
  readonly task_id: string | null;
  readonly title: string;
  readonly context: string;
  readonly next: string;
}

/** Not exported, so that only the functions below can make proofs, each from its own measurement. */
const PROVES = Symbol('proves');

export interface Proof<K extends string> {
  readonly [PROVES]: K;
  readonly reasons: readonly Reason[];
}

/** `answered`: decisions whose answer is not in effect yet. They need no person, but their consequences are to come. */
export interface PeopleProof extends Proof<'people'> {
  readonly answered: number;
}

/** Throws if the proof is of another kind or was not made in this file. */
function reasonsOf<K extends string>(proof: Proof<K>, what: K): readonly Reason[] {
  const made: Partial<Proof<K>> | undefined = proof;
  if (made?.[PROVES] !== what) throw new Error(`there is no proof about the ${what}`);
  return proof.reasons;
}

export function proveStore(health: StoreHealth): Proof<'store'> {
  if (health.writable) return createProof('store', []);
  const { since, reason, hint, what, away_since } = health;
  if (away_since !== undefined) {
    const title = `The database has not answered since ${away_since}; the state shown is of that time`;
    return createProof('store', [{ ...ONE, kind: 'database', title, context: reason, next: hint }]);
  }
  const cannot = `The ${what === 'folder' ? 'state folder' : 'ledger'} cannot be written`;
  const title = since === '' ? cannot : `${cannot} since ${since}`;
  return createProof('store', [{ ...ONE, kind: 'store', title, context: reason, next: hint }]);
}

/** `refused`: why a command would be refused now; undefined if a probe would be accepted. */
export function proveCommands(
  refused: { readonly message: string; readonly hint: string } | undefined,
): Proof<'commands'> {
  if (refused === undefined) return createProof('commands', []);
  const title = 'Baton decides nothing in this project';
  return createProof('commands', [{ ...ONE, kind: 'commands', title, context: refused.message, next: refused.hint }]);
}

export interface LoopMeasure {
  readonly lagMs: number;
  readonly boundMs: number;
}

export function proveLoop({ lagMs, boundMs }: LoopMeasure): Proof<'loop'> {
  // Not `lagMs > boundMs`, because NaN proves nothing.
  if (lagMs <= boundMs) return createProof('loop', []);
  const title = `The daemon's event loop was blocked for ${seconds(lagMs)}`;
  const context = 'Possible causes: a slow disk, a suspended machine, or too much work at once.';
  return createProof('loop', [{ ...ONE, kind: 'loop', title, context, next: 'baton status' }]);
}

/** `limitMs` is `limits.silence`, or more while the agent waits for a tool. */
export interface SilenceMeasure {
  readonly silentMs: number;
  readonly limitMs: number;
}

export interface RunningAgent {
  readonly id: string;
  readonly name: string;
  readonly taskId: string | null;
}

/** An agent without a measurement counts as a reason. */
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
      measured === undefined ? 'The daemon has no report of this agent.' : `The limit is ${seconds(measured.limitMs)}.`;
    return [{ kind: 'silent', count: 1, task_id: agent.taskId, title, context, next: `baton agent show ${agent.id}` }];
  });
  return createProof(
    'agents',
    summarizeReasons(silent, (count) => ({ title: `${count} more agents are silent`, next: 'baton agent list' })),
  );
}

export interface UnservedTask {
  readonly id: string;
  readonly title: string;
  readonly phase: string;
  readonly role: string | null;
  /** The person who took the agent over; null if there is none. */
  readonly takenBy: string | null;
  /** The labels of the worker that would take the task, if no host has all of them. */
  readonly missingLabels?: readonly string[];
  readonly next: string;
}

export function provePhases(unserved: readonly UnservedTask[]): Proof<'phases'> {
  const reasons = unserved.map(({ id, title: name, phase, role, takenBy, missingLabels, next }): Reason => {
    const nobody =
      missingLabels === undefined
        ? `No worker takes task ${id} ${name}`
        : `No host has the labels (${missingLabels.join(', ')}) for task ${id} ${name}`;
    const title = takenBy === null ? nobody : `${takenBy} took over task ${id} ${name}`;
    const context = `It is ${phase}${role === null ? '' : `, next role ${role}`}.`;
    return { kind: 'unserved', count: 1, task_id: id, title, context, next };
  });
  const more = (count: number) => ({ title: `No worker takes ${count} more tasks`, next: 'baton task list' });
  return createProof('phases', summarizeReasons(reasons, more));
}

export function provePeople(
  decisions: readonly {
    readonly id: string;
    readonly title: string;
    readonly context: string;
    readonly task_id: string | null;
    readonly answer: object | null;
  }[],
  others: readonly Reason[],
): PeopleProof {
  const waiting = decisions.filter(({ answer }) => answer === null);
  const asked = waiting.map(({ id, title, context, task_id }): Reason => ({
    kind: 'decision',
    count: 1,
    task_id,
    title,
    context,
    next: `baton decision show ${id}`,
  }));
  return { ...createProof('people', [...asked, ...others]), answered: decisions.length - waiting.length };
}

function createProof<K extends string>(what: K, reasons: readonly Reason[]): Proof<K> {
  return { [PROVES]: what, reasons };
}

export function summarizeReasons(
  reasons: readonly Reason[],
  more: (count: number) => { readonly title: string; readonly next: string },
): readonly Reason[] {
  const [first] = reasons;
  // A line that counts one more reason takes as much room as the reason itself.
  if (first === undefined || reasons.length <= MAX_LISTED + 1) return reasons;
  const count = reasons.length - MAX_LISTED;
  return [...reasons.slice(0, MAX_LISTED), { kind: first.kind, count, task_id: null, context: '', ...more(count) }];
}

const MAX_LISTED = 5;
const ONE = { count: 1, task_id: null } as const;

function seconds(ms: number): string {
  return ms >= 120_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 1000)} s`;
}
