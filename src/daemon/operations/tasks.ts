import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as operations from '../../api/operations/tasks.ts';
import { readProcessIdentity } from '../../api/processes.ts';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { actorOf, type Caller, principalOf } from '../../state/caller.ts';
import { type Command, decide } from '../../state/decide.ts';
import { type Outcome, refusal } from '../../state/outcome.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import { type Task, taskStatus } from '../../state/tasks/task.ts';
import { findFittingTasks, mayClaim } from '../../state/tasks/worker-fit.ts';
import { type DecideContext, LATER } from '../loop/request.ts';
import { answerFor, type Call, handlerFor, type OperationHandler } from './call.ts';
import { expiresAt, taskView, waitsView } from './task-view.ts';

export const TASK_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  task_create: handlerFor(operations.taskCreate, async (call) => {
    const { task_id: id, title, after, priority, phase, role, prompt_file, epic_id, prd_id } = call.input;
    if (prompt_file !== undefined && !isFileInRepository(call.project.path, prompt_file)) {
      const message = `prompt_file '${prompt_file}' is not a file in the repository`;
      return {
        ok: false,
        error: { code: 'bad-request', message, hint: 'Name it from the top, as in docs/tasks/x.md.' },
      };
    }
    const command = {
      id,
      title,
      ...(after === undefined ? {} : { after }),
      ...(priority === undefined ? {} : { priority }),
      ...(phase === undefined ? {} : { phase }),
      ...(role === undefined ? {} : { nextRole: role }),
      ...(prompt_file === undefined ? {} : { promptFile: prompt_file }),
      ...(epic_id === undefined ? {} : { epicId: epic_id }),
      ...(prd_id === undefined ? {} : { prdId: prd_id }),
    };
    const settled = await submitCommand<{ n: number }>(call, { kind: 'create-task', command });
    return answerFor(settled, ({ n }) => ({ task_id: id, n }));
  }),

  task_get: handlerFor(operations.taskGet, async ({ input, project, services }) => {
    const settled = await project.commandLoop.submit({
      actor: 'system:reader',
      decide: ({ state }) => {
        const task = state.tasks.get(input.task_id);
        if (task === undefined) return refuseUnknownTask(input.task_id);
        const { endings, latestRecord: latest_record, flow } = task;
        const view = { ...taskView(project, state, task, services), ...waitsView(state, task) };
        return unchanged({ ...view, endings, latest_record, authors: flow.authors, self_approval: flow.selfApproval });
      },
    });
    return answerFor(settled, (task) => task);
  }),

  task_list: handlerFor(operations.taskList, async ({ input, project, services }) => {
    const { status, phase, after_n = 0, limit = 100 } = input;
    const fits = (task: Task): boolean =>
      task.n > after_n &&
      (status === undefined || taskStatus(task) === status) &&
      (phase === undefined || task.phase === phase);
    const settled = await project.commandLoop.read(({ state }) => {
      const found = [...state.tasks.values()].filter(fits);
      const tasks = found.slice(0, limit).map((task) => taskView(project, state, task, services));
      return { tasks, total: found.length };
    });
    return answerFor(settled, (listed) => listed);
  }),

  task_next_actions: handlerFor(operations.taskNextActions, async ({ input, caller, project, services, signal }) => {
    const { limit = 10, role, wait_ms: ms = 0 } = input;
    const settled = await project.commandLoop.submit({
      actor: 'system:reader',
      waitsFor: 'work',
      waitLimit: { ms, otherwise: unchanged<unknown[]>([]), ...(signal === undefined ? {} : { signal }) },
      decide: (view) => {
        const tasks = findClaimableTasks(view, caller, limit, role).map((task) =>
          taskView(project, view.state, task, services),
        );
        return tasks.length === 0 && ms > 0 ? LATER : unchanged<unknown[]>(tasks);
      },
    });
    return answerFor(settled, (tasks) => ({ tasks }));
  }),

  task_claim: handlerFor(operations.taskClaim, async (call) => {
    const { input, project, services } = call;
    const { as: holder, role, wait_ms: ms = 0 } = input;
    const sessionId = services.newId();
    const identity = input.pid === undefined ? undefined : readProcessIdentity(input.pid);
    const process = identity === undefined ? {} : { process: identity };
    const settled = await project.commandLoop.submit<ClaimAnswer>({
      actor: `session:${sessionId}`,
      ...keyOf(call),
      ...(input.task_id === undefined ? { waitsFor: 'work' } : {}),
      waitLimit: { ms, otherwise: NO_WORK, ...(call.signal === undefined ? {} : { signal: call.signal }) },
      decide: (view) => {
        const id = input.task_id ?? findClaimableTasks(view, call.caller, 1, role)[0]?.id;
        if (id === undefined) return ms > 0 ? LATER : NO_WORK;
        const command = { id, sessionId, holder, ...(role === undefined ? {} : { role }), ...process };
        const outcome = decide(view.state, { kind: 'claim-task', command }, call.caller, view.rules);
        if (!outcome.ok)
          return ms > 0 && input.task_id !== undefined && TEMPORARY_REFUSALS.has(outcome.refusal.code)
            ? LATER
            : outcome;
        const { epoch = 0, nextRole = null } = view.state.tasks.get(id) ?? {};
        const waits = role === undefined && nextRole !== null ? { next_role: nextRole } : {};
        return { ...outcome, answer: { task_id: id, epoch: epoch + 1, session_id: sessionId, ...waits } };
      },
    });
    return answerFor(settled, ({ task_id, epoch, session_id, ...rest }) => ({
      task_id,
      epoch,
      session_id,
      ...rest,
      token: services.issueToken({ project: project.id, sessionId: session_id, taskId: task_id, epoch }),
      expires_at: expiresAt(project, task_id, services),
    }));
  }),

  task_heartbeat: handlerFor(operations.taskHeartbeat, async ({ input, caller, project, services }) => {
    const epoch = caller.kind === 'session' ? caller.epoch : 0;
    const own = caller.kind === 'session' ? caller.taskId : '';
    const task_id = input.task_id ?? own;
    if (own === task_id && (await project.renewClaim(task_id, epoch))) {
      return { ok: true, result: { task_id, epoch, expires_at: expiresAt(project, task_id, services) } };
    }
    return { ok: false, error: await readLostClaimError(project, task_id, caller) };
  }),

  task_release: handlerFor(operations.taskRelease, async (call) => {
    const { task_id: id, reason } = call.input;
    const command = { id, ...(reason === undefined ? {} : { reason }) };
    return answerFor(await submitCommand(call, { kind: 'release-claim', command }), () => ({ task_id: id }));
  }),

  task_update: handlerFor(operations.taskUpdate, async (call) => {
    const settled = await submitCommand(call, { kind: 'update-task', command: call.input });
    return answerFor(settled, () => ({ task_id: call.input.task_id, status: call.input.status }));
  }),

  task_self_approve: handlerFor(operations.taskSelfApprove, async (call) => {
    const { task_id: id, reason } = call.input;
    const command = { id, reason };
    return answerFor(await submitCommand(call, { kind: 'self-approve', command }), () => ({ task_id: id }));
  }),

  task_unblock: operatorHandler(operations.taskUnblock, 'unblock'),
  task_reinstate: operatorHandler(operations.taskReinstate, 'reinstate'),
  task_cancel: operatorHandler(operations.taskCancel, 'cancel'),
  task_waive: operatorHandler(operations.taskWaive, 'waive'),
};

/** The most urgent tasks that this caller could claim: an author is not offered the review of the own work. */
function findClaimableTasks(
  { ready, state, rules }: DecideContext,
  caller: Caller,
  count: number,
  role?: string,
): readonly Task[] {
  const principal = principalOf(state, caller);
  return findFittingTasks(ready, state, count, (task) => mayClaim(state, task, principal, rules), role);
}

interface ClaimAnswer {
  readonly task_id: string;
  readonly epoch: number;
  readonly session_id: string;
  /** The role that the task waits for, where it was claimed without one. */
  readonly next_role?: string;
}

/** Inside of the repository also after its links are followed. */
export function isFileInRepository(repository: string, path: string): boolean {
  if (!isRelativePath(path)) return false;
  try {
    const real = realpathSync(join(repository, path));
    return real.startsWith(`${realpathSync(repository)}/`) && statSync(real).isFile();
  } catch {
    return false;
  }
}

/** A claim of a task that is taken, or that waits for another, may work out in a while. */
const TEMPORARY_REFUSALS: ReadonlySet<string> = new Set(['already-claimed', 'waits', 'not-workable']);

const NO_WORK = refusal('no-work', 'there is nothing to claim', 'Wait for work with wait_ms, or see: baton task list');

/** Sends a command of the kernel on behalf of the caller; `complete` may add what belongs into the same commit. */
export async function submitCommand<A>(
  call: Call,
  command: Command,
  complete: (outcome: Outcome<A>, view: Pick<DecideContext, 'state' | 'rules'>) => Outcome<A> = (outcome) => outcome,
) {
  return call.project.commandLoop.submit<A>({
    actor: actorOf(call.caller),
    ...keyOf(call),
    // The kernel answers each kind of command with its own kind of answer; the caller names it.
    decide: ({ state, rules }) => complete(decide(state, command, call.caller, rules) as Outcome<A>, { state, rules }), // oxlint-disable-line typescript/no-unsafe-type-assertion
  });
}

function keyOf({ key }: Pick<Call, 'key'>): { readonly key?: string } {
  return key === undefined ? {} : { key };
}

function operatorHandler(
  operation: typeof operations.taskUnblock,
  action: 'unblock' | 'reinstate' | 'cancel' | 'waive',
): OperationHandler {
  return handlerFor(operation, async (call) => {
    const { task_id: id, reason } = call.input;
    return answerFor(await submitCommand(call, { kind: 'operate-task', command: { id, action, reason } }), () => ({
      task_id: id,
    }));
  });
}

function unchanged<A>(answer: A): Outcome<A> {
  return { ok: true, events: [], answer };
}

async function readLostClaimError(project: Call['project'], taskId: string, caller: Caller) {
  const settled = await project.commandLoop.read(({ state }) => state.tasks.get(taskId)?.epoch);
  const newest = settled.ok ? (settled.answer ?? 0) : 0;
  const epoch = caller.kind === 'session' ? caller.epoch : 0;
  const message =
    epoch < newest ? `stale claim: epoch ${epoch} < ${newest}` : `the claim on ${taskId} has ended, or is not yours`;
  return { code: epoch < newest ? 'stale-claim' : 'claim-ended', message, hint: 'Stop working on this task.' };
}
