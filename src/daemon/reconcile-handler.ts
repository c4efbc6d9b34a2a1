import { reconcile as reconcileOperation } from '../api/writeback-operations.ts';
import { branchName } from '../git/branch-name.ts';
import { measureFacts } from '../git/measure-facts.ts';
import { reconcile, type Finding, type TaskView } from '../git/reconcile.ts';
import { listWorktrees } from '../git/worktrees.ts';
import { decide } from '../state/decide.ts';
import type { State } from '../state/state.ts';
import { statusOf, writebacks, type Task } from '../state/task.ts';
import { answerOf, handle } from './handler.ts';
import type { Project } from './project.ts';
import { hasEnded } from '../api/process-identity.ts';

/** Compares the tasks with git and with processes. With `apply` it ends the claims of the dead; everything else is for people. */
export const reconcileHandler = handle(reconcileOperation, async ({ input, project }) => {
  const worktrees = await listWorktrees(project.path);
  const branches = new Map(worktrees.ok ? worktrees.value.map(({ branch, path }) => [branch ?? '', path]) : []);
  const settled = await project.keeper.read(({ state }) => viewTasks(state, branches));
  if (!settled.ok) return answerOf(settled, () => null);
  const { tasks, deadSessions } = settled.answer;
  const facts = await measureFacts(project.path, tasks, { deadSessions });
  if (!facts.ok) {
    const { code, message, hint } = facts.problem;
    return { ok: false, error: { code, message, hint } };
  }
  const findings = reconcile(tasks, facts.value);
  const applied = input.apply === true ? await apply(project, findings) : [];
  return { ok: true, result: { findings, applied } };
});

/** Only tasks that somebody has touched can disagree with git. */
function viewTasks(state: State, worktrees: ReadonlyMap<string, string>) {
  const touched = [...state.tasks.values()].filter((task) => task.epoch > 0 || task.records.length > 0);
  const dead = touched.flatMap(({ claim }) => (claim?.process && hasEnded(claim.process) ? [claim.sessionId] : []));
  return { tasks: touched.map((task) => viewTask(task, worktrees)), deadSessions: new Set(dead) };
}

function viewTask(task: Task, worktrees: ReadonlyMap<string, string>): TaskView {
  const newest = writebacks(task).at(-1);
  const record =
    newest === undefined || task.latestRecord === null
      ? null
      : { commitSha: newest.commitSha, branch: task.latestRecord.branch };
  const named = branchName(task);
  const branch = record?.branch ?? (named.ok ? named.value : null);
  const worktree = branch === null ? null : (worktrees.get(branch) ?? null);
  const { id, phase, claim } = task;
  return { id, phase, status: statusOf(task), record, mergeSha: null, branch, worktree, claim };
}

async function apply(project: Project, findings: readonly Finding[]): Promise<string[]> {
  const done: string[] = [];
  for (const { safe, action, task_id: id, message } of findings) {
    if (!safe || action?.do !== 'end-claim') continue;
    const command = { id, epoch: action.epoch, reason: message };
    const settled = await project.keeper.submit({
      actor: 'system:reconcile',
      decide: ({ state, rules }) => decide(state, { kind: 'expire-claim', command }, SYSTEM, rules),
    });
    if (settled.ok) done.push(`ended the claim of epoch ${action.epoch} on ${id}`);
  }
  return done;
}

const SYSTEM = { kind: 'system', name: 'reconcile' } as const;
