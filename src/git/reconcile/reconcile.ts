import type { Phase } from '../../protocol/phase.ts';
import type { FindingKind } from '../../protocol/shape/shared-fields.ts';
import type { WorkFact } from './work-facts.ts';

/** The recorded facts of a task that git or processes can contradict. */
export interface RecordedTask {
  readonly id: string;
  readonly phase: Phase;
  readonly status: 'todo' | 'in_progress' | 'blocked' | 'done' | 'cancelled';
  readonly record: { readonly commitSha: string; readonly branch: string } | null;
  /** The commit of Baton's merge; null if Baton did not merge the task. */
  readonly mergeSha: string | null;
  /** The branch of the work, with or without a record. */
  readonly branch: string | null;
  readonly worktree: string | null;
  readonly claim: { readonly epoch: number; readonly sessionId: string; readonly holder: string } | null;
}

/** Measured facts. A task that is missing from a map was not measured. */
export interface MeasuredFacts {
  readonly mainBranch: string;
  readonly work: ReadonlyMap<string, WorkFact>;
  readonly missingWorktrees: ReadonlySet<string>;
  /** Sessions whose process has certainly ended. */
  readonly deadSessions: ReadonlySet<string>;
}

export interface ReconcileFinding {
  readonly kind: FindingKind;
  readonly task_id: string;
  readonly message: string;
  readonly hint: string;
  /** Whether the action needs no confirmation. Every other finding becomes a decision. */
  readonly safe: boolean;
  readonly action?: ReconcileAction;
}

type ReconcileAction =
  | { readonly do: 'end-claim'; readonly epoch: number; readonly session_id: string }
  | { readonly do: 'reinstate'; readonly reason: string }
  | { readonly do: 'complete'; readonly commit_sha: string }
  | { readonly do: 'make-worktree'; readonly branch: string };

export function findReconcileFindings(tasks: readonly RecordedTask[], facts: MeasuredFacts): ReconcileFinding[] {
  // A person cancelled these tasks, so they raise no question.
  const kept = tasks.filter(({ status }) => status !== 'cancelled');
  return kept.flatMap((task) => [
    ...(task.status === 'done' ? undoneWork(task, facts) : mergedByHand(task, facts)),
    ...missingWorktree(task, facts),
    ...deadSession(task, facts),
  ]);
}

/** Failure mode 3 of the handoff document: recorded as done, but no longer on the main branch. */
function undoneWork(task: RecordedTask, { work, mainBranch }: MeasuredFacts): ReconcileFinding[] {
  const fact = work.get(task.id);
  if (fact === undefined || task.record === null) return [];
  const commit = short(task.record.commitSha);
  switch (fact.state) {
    case 'missing':
      return [contradiction('commit-missing', `commit ${commit}, which its record names, is not in the repository`)];
    case 'reverted': {
      const by = fact.by === null ? 'its files are as they were before' : `by ${short(fact.by)}`;
      return [contradiction('commit-reverted', `commit ${commit} was reverted on ${mainBranch}: ${by}`)];
    }
    case 'elsewhere':
      // Done but never merged is not a contradiction, because a review may be pending.
      if (!fact.wasOnMain) return [];
      return [contradiction('commit-gone', `commit ${commit} was on ${mainBranch}, and no longer is`)];
    case 'nowhere':
      return [contradiction('commit-gone', `commit ${commit} is on no branch`)];
    case 'on-main':
      return [];
  }

  function contradiction(kind: FindingKind, what: string): ReconcileFinding {
    const hint = `If the work must be done again, reinstate the task: baton thought record, with "status": "todo"`;
    const action: ReconcileAction = { do: 'reinstate', reason: what };
    return { kind, task_id: task.id, message: `${task.id} is done, but ${what}`, hint, safe: false, action };
  }
}

function mergedByHand(task: RecordedTask, { work, mainBranch }: MeasuredFacts): ReconcileFinding[] {
  const fact = work.get(task.id);
  if (fact?.state !== 'on-main') return [];
  const branch = task.record?.branch ?? task.branch ?? 'its branch';
  const how = HOW[fact.landing.how];
  const message = `${task.id} is in ${task.phase}, but ${branch} ${how} ${mainBranch}`;
  const next =
    task.record === null ? `baton task complete ${task.id} RECORD.json` : `baton task update ${task.id} --status done`;
  const action: ReconcileAction = { do: 'complete', commit_sha: fact.sha };
  return [{ kind: 'merged-by-hand', task_id: task.id, message, hint: `If it is done: ${next}`, safe: false, action }];
}

const HOW = {
  'fast-forward': 'is part of',
  merge: 'was merged into',
  squash: 'was squashed into',
  rebase: 'was rebased onto',
} as const;

function missingWorktree(task: RecordedTask, { missingWorktrees }: MeasuredFacts): ReconcileFinding[] {
  const { worktree, branch } = task;
  if (task.status === 'done' || worktree === null || !missingWorktrees.has(worktree)) return [];
  const found: ReconcileFinding = {
    kind: 'worktree-missing',
    task_id: task.id,
    message: `the worktree of ${task.id} is gone: '${worktree}'`,
    hint: 'Remove the entry: git worktree prune. The next session gets a new worktree.',
    safe: false,
  };
  return [branch === null ? found : { ...found, action: { do: 'make-worktree', branch } }];
}

function deadSession(task: RecordedTask, { deadSessions }: MeasuredFacts): ReconcileFinding[] {
  const { claim } = task;
  if (claim === null || !deadSessions.has(claim.sessionId)) return [];
  return [
    {
      kind: 'session-dead',
      task_id: task.id,
      message: `${claim.holder} holds ${task.id} (epoch ${claim.epoch}), but its process has ended`,
      hint: `End its claim: baton task release ${task.id}`,
      safe: true,
      action: { do: 'end-claim', epoch: claim.epoch, session_id: claim.sessionId },
    },
  ];
}

function short(sha: string): string {
  return sha.slice(0, 12);
}
