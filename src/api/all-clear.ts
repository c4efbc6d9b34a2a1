import { reasonsOf, type Proof, type Reason, type ReasonKind } from './proofs.ts';

/** Everything that must be known before anybody may say that nothing needs a person. Each proof is made from a measurement: see `proofs.ts`. */
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
 * The only place that says "Nothing needs you". Surfaces print `summary` and never make one: a surface that has no answer of the daemon, or only
 * an old one, shows that instead.
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
