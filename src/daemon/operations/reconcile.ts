import { randomUUID } from 'node:crypto';
import type { Answer } from '../../api/answer.ts';
import { reconcile as reconcileOperation } from '../../api/operations/writeback.ts';
import { hasEnded } from '../../api/processes.ts';
import { measureFacts } from '../../git/reconcile/measure-facts.ts';
import { findReconcileFindings, type ReconcileFinding, type RecordedTask } from '../../git/reconcile/reconcile.ts';
import { gitLines } from '../../git/run-git.ts';
import { listWorktrees } from '../../git/worktree/worktree.ts';
import { redactText } from '../../ledger/redact.ts';
import { type Here, isHere } from '../../state/fleet/owner.ts';
import type { Events } from '../../state/event.ts';
import type { RaisedFinding } from '../../state/runs/resolve-decision.ts';
import type { State } from '../../state/state.ts';
import { type Task, taskStatus, writebackRecords } from '../../state/tasks/task.ts';
import { causeOf, type Log } from '../log.ts';
import type { Project } from '../project/project.ts';
import { findRemoteHead } from '../project/remote-main.ts';
import { handlerFor, problemAnswer, refusalOf } from './call.ts';

export const reconcileHandler = handlerFor(reconcileOperation, async ({ input, project }) =>
  reconcileProject(project, { apply: input.apply === true }),
);

/** Ends the claims of processes that ended while no daemon ran, and opens a decision for every other finding. */
export async function reconcileAtStart(project: Project, log: Log): Promise<void> {
  try {
    const answer = await reconcileProject(project, { apply: true });
    if (!answer.ok)
      log.error('cannot compare a project with git', { project: project.id, cause: answer.error.message });
    else if (answer.result.findings.length > 0) {
      const { findings, applied } = answer.result;
      log.info('reconciled', { project: project.id, found: findings.length, applied: applied.length });
    }
  } catch (error) {
    log.error('cannot compare a project with git', { project: project.id, cause: causeOf(error) });
  }
}

/**
 * Called when others have moved the main branch. Compares only what may contradict it now: the merges that a new commit
 * says it reverts, or all tasks if commits were dropped. So a person's commits cost nothing, however many tasks are
 * closed.
 */
export async function reconcileAfterMove(project: Project, { old, ...move }: MainMove, log: Log): Promise<void> {
  if (old === null) return;
  if (!move.fast_forward) return reconcileAtStart(project, log);
  const named = await findRevertedCommits(project, old, move.new);
  if (named.length === 0) return;
  const isNamed = (sha: string | null | undefined): boolean => named.some((each) => sha?.startsWith(each) === true);
  const wanted = ({ flow, records }: Task): boolean =>
    isNamed(flow.mergeSha) || isNamed(flow.head) || records.some(({ commitSha }) => isNamed(commitSha));
  await reconcileProject(project, { apply: true, wanted });
}

type MainMove = Pick<Events['MainMoved'], 'old' | 'new' | 'fast_forward'>;

/** Returns the commits that the messages of the new commits name, as `git revert` writes them. */
async function findRevertedCommits({ own }: Project, old: string, sha: string): Promise<readonly string[]> {
  const found = await own.with(sha);
  if (!found.ok) return [];
  const args = [
    'log',
    '--format=%B',
    '--fixed-strings',
    '--grep=This reverts commit ',
    '--end-of-options',
    sha,
    `^${old}`,
  ];
  const lines = await gitLines([...args, '--'], { cwd: found.value });
  if (!lines.ok) return [];
  return lines.value.flatMap((line) => /This reverts commit ([0-9a-f]{7,64})/.exec(line)?.[1] ?? []);
}

/**
 * Called before a caller without a claim reinstates a task, whose finding must match git as it is now. If the
 * comparison fails, the findings of the last one count.
 */
export async function refreshFindings(project: Project): Promise<void> {
  await reconcileProject(project, { apply: true });
}

/**
 * Compares the tasks with git and with processes. With `apply`, ends the claims of ended processes and opens decisions
 * for the rest.
 */
async function reconcileProject(
  project: Project,
  options: { readonly apply: boolean; readonly wanted?: (task: Task) => boolean },
): Promise<Answer<{ readonly findings: readonly ReconcileFinding[]; readonly applied: readonly string[] }>> {
  const worktrees = await listWorktrees(project.path);
  const branches = new Map(worktrees.ok ? worktrees.value.map(({ branch, path }) => [branch ?? '', path]) : []);
  const { here } = project;
  const settled = await project.commandLoop.read(({ state }) => viewTasks(state, branches, here, options.wanted));
  if (!settled.ok) return refusalOf(settled);
  const { tasks, deadSessions, standing } = settled.answer;
  if (tasks.length === 0) return { ok: true, result: { findings: [], applied: [] } };
  const sharedMain = project.read((state) => findRemoteHead(state, here));
  const facts = await measureFacts(project.path, tasks, { own: project.own, deadSessions, sharedMain });
  if (!facts.ok) return problemAnswer(facts.problem);
  const findings = findReconcileFindings(tasks, facts.value);
  if (!options.apply) return { ok: true, result: { findings, applied: [] } };
  const ended = await endDeadClaims(project, findings);
  const about = options.wanted === undefined ? {} : { about: tasks.map(({ id }) => id) };
  const asked = await openDecisions(project, { findings, ...about }, standing);
  return { ok: true, result: { findings, applied: [...ended, ...asked] } };
}

/**
 * Selects claimed and recorded tasks, because only those can contradict git. In a fleet each host checks its own tasks,
 * because only it has their worktrees.
 */
function viewTasks(
  state: State,
  worktrees: ReadonlyMap<string, string>,
  here: Here | undefined,
  wanted: (task: Task) => boolean = () => true,
) {
  const isOurs = ({ claim, work }: Task): boolean => isHere(claim ?? work ?? { host: null }, state, here);
  const touched = [...state.tasks.values()].filter(
    (task) => (task.epoch > 0 || task.records.length > 0) && isOurs(task) && wanted(task),
  );
  const dead = touched.flatMap(({ claim }) => (claim?.process && hasEnded(claim.process) ? [claim.sessionId] : []));
  const standing = new Map(touched.map(({ id, epoch, flow }) => [id, { epoch, movedAt: flow.movedAt }]));
  return { tasks: touched.map((task) => viewTask(task, worktrees)), deadSessions: new Set(dead), standing };
}

function viewTask(task: Task, worktrees: ReadonlyMap<string, string>): RecordedTask {
  const newest = writebackRecords(task).at(-1);
  const record =
    newest === undefined || task.latestRecord === null
      ? null
      : { commitSha: newest.commitSha, branch: task.latestRecord.branch };
  const branch = record?.branch ?? task.flow.branch;
  const worktree = branch === null ? null : (worktrees.get(branch) ?? null);
  const { id, phase, claim, flow } = task;
  return { id, phase, status: taskStatus(task), record, mergeSha: flow.mergeSha, branch, worktree, claim };
}

async function endDeadClaims(project: Project, findings: readonly ReconcileFinding[]): Promise<string[]> {
  const done: string[] = [];
  for (const { safe, action, task_id: id, message } of findings) {
    if (!safe || action?.do !== 'end-claim') continue;
    const command = { id, epoch: action.epoch, reason: message };
    const settled = await project.commandLoop.submitCommand({ kind: 'expire-claim', command }, SYSTEM);
    if (settled.ok) done.push(`ended the claim of epoch ${action.epoch} on ${id}`);
  }
  return done;
}

/** Opens a decision for each finding that is not safe to apply. The state knows which are already open. */
async function openDecisions(
  project: Project,
  { findings, ...scope }: { readonly findings: readonly ReconcileFinding[]; readonly about?: readonly string[] },
  standing: ReadonlyMap<string, { readonly epoch: number; readonly movedAt: number }>,
): Promise<string[]> {
  const raised = findings
    .filter(({ safe }) => !safe)
    .map(({ task_id: taskId, kind, message, hint, action }): RaisedFinding => {
      const { epoch, movedAt } = standing.get(taskId) ?? { epoch: 0, movedAt: 0 };
      const remedy = action?.do === 'reinstate' || action?.do === 'complete' ? action.do : null;
      // Redacted as in the ledger. Otherwise it would look like a new question each time.
      const context = redactText(`${message}\n${hint}`, project.ledger.secrets);
      return { decisionId: randomUUID(), taskId, kind, context, remedy, epoch, movedAt };
    });
  const command = { kind: 'raise-findings', command: { findings: raised, ...scope } } as const;
  const settled = await project.commandLoop.submitCommand(command, SYSTEM);
  if (!settled.ok) return [];
  const asked = raised.filter(({ decisionId }) => settled.answer.asked.includes(decisionId));
  return asked.map(({ taskId, decisionId }) => `asked about ${taskId}: baton decision show ${decisionId.slice(0, 8)}`);
}

const SYSTEM = { kind: 'system', name: 'reconcile' } as const;
