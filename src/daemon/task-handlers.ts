import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as operations from '../api/task-operations.ts';
import { isRelativePath } from '../protocol/text-format.ts';
import { actorOf, type Caller } from '../state/caller.ts';
import { noSuchTask } from '../state/create-task.ts';
import { decide, type Command } from '../state/decide.ts';
import { firstFitting, mayTake } from '../state/first-fitting.ts';
import { refusal, type Outcome } from '../state/outcome.ts';
import { principalOf } from '../state/principal.ts';
import { statusOf, type Task } from '../state/task.ts';
import { answerOf, handle, type Handler } from './handler.ts';
import { LATER, type View } from './request.ts';
import type { Call } from './call.ts';
import { identifyProcess } from '../api/process-identity.ts';
import { expiresAt, taskView, waitsView } from './task-view.ts';

export const TASK_HANDLERS: Readonly<Record<string, Handler>> = {
  task_create: handle(operations.taskCreate, async (call) => {
    const { task_id: id, title, after, priority, phase, role, prompt_file, epic_id, prd_id } = call.input;
    if (prompt_file !== undefined && !isFileIn(call.project.path, prompt_file)) {
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
    const settled = await order<{ n: number }>(call, { kind: 'create-task', command });
    return answerOf(settled, ({ n }) => ({ task_id: id, n }));
  }),

  task_get: handle(operations.taskGet, async ({ input, project, services }) => {
    const settled = await project.keeper.submit({
      actor: 'system:reader',
      decide: ({ state }) => {
        const task = state.tasks.get(input.task_id);
        if (task === undefined) return noSuchTask(input.task_id);
        const { endings, latestRecord: latest_record, flow } = task;
        const view = { ...taskView(project, state, task, services), ...waitsView(state, task) };
        return seen({ ...view, endings, latest_record, authors: flow.authors, self_approval: flow.selfApproval });
      },
    });
    return answerOf(settled, (task) => task);
  }),

  task_list: handle(operations.taskList, async ({ input, project, services }) => {
    const { status, phase, after_n = 0, limit = 100 } = input;
    const fits = (task: Task): boolean =>
      task.n > after_n &&
      (status === undefined || statusOf(task) === status) &&
      (phase === undefined || task.phase === phase);
    const settled = await project.keeper.read(({ state }) => {
      const found = [...state.tasks.values()].filter(fits);
      const tasks = found.slice(0, limit).map((task) => taskView(project, state, task, services));
      return { tasks, total: found.length };
    });
    return answerOf(settled, (listed) => listed);
  }),

  task_next_actions: handle(operations.taskNextActions, async ({ input, caller, project, services, signal }) => {
    const { limit = 10, role, wait_ms: ms = 0 } = input;
    const settled = await project.keeper.submit({
      actor: 'system:reader',
      waitsFor: 'work',
      patience: { ms, otherwise: seen<unknown[]>([]), ...(signal === undefined ? {} : { signal }) },
      decide: (view) => {
        const tasks = findWork(view, caller, limit, role).map((task) => taskView(project, view.state, task, services));
        return tasks.length === 0 && ms > 0 ? LATER : seen<unknown[]>(tasks);
      },
    });
    return answerOf(settled, (tasks) => ({ tasks }));
  }),

  task_claim: handle(operations.taskClaim, async (call) => {
    const { input, project, services } = call;
    const { as: holder, role, wait_ms: ms = 0 } = input;
    const sessionId = services.newId();
    const identity = input.pid === undefined ? undefined : identifyProcess(input.pid);
    const process = identity === undefined ? {} : { process: identity };
    const settled = await project.keeper.submit<Claimed>({
      actor: `session:${sessionId}`,
      ...keyOf(call),
      ...(input.task_id === undefined ? { waitsFor: 'work' } : {}),
      patience: { ms, otherwise: NO_WORK, ...(call.signal === undefined ? {} : { signal: call.signal }) },
      decide: (view) => {
        const id = input.task_id ?? findWork(view, call.caller, 1, role)[0]?.id;
        if (id === undefined) return ms > 0 ? LATER : NO_WORK;
        const command = { id, sessionId, holder, ...(role === undefined ? {} : { role }), ...process };
        const outcome = decide(view.state, { kind: 'claim-task', command }, call.caller, view.rules);
        if (!outcome.ok)
          return ms > 0 && input.task_id !== undefined && MAY_PASS.has(outcome.refusal.code) ? LATER : outcome;
        const { epoch = 0, nextRole = null } = view.state.tasks.get(id) ?? {};
        const waits = role === undefined && nextRole !== null ? { next_role: nextRole } : {};
        return { ...outcome, answer: { task_id: id, epoch: epoch + 1, session_id: sessionId, ...waits } };
      },
    });
    return answerOf(settled, ({ task_id, epoch, session_id, ...rest }) => ({
      task_id,
      epoch,
      session_id,
      ...rest,
      token: services.issueToken({ project: project.id, sessionId: session_id, taskId: task_id, epoch }),
      expires_at: expiresAt(project, task_id, services),
    }));
  }),

  task_heartbeat: handle(operations.taskHeartbeat, async ({ input, caller, project, services }) => {
    const epoch = caller.kind === 'session' ? caller.epoch : 0;
    const own = caller.kind === 'session' ? caller.taskId : '';
    const task_id = input.task_id ?? own;
    if (own === task_id && (await project.renew(task_id, epoch))) {
      return { ok: true, result: { task_id, epoch, expires_at: expiresAt(project, task_id, services) } };
    }
    return { ok: false, error: await whyNot(project, task_id, caller) };
  }),

  task_release: handle(operations.taskRelease, async (call) => {
    const { task_id: id, reason } = call.input;
    const command = { id, ...(reason === undefined ? {} : { reason }) };
    return answerOf(await order(call, { kind: 'release-claim', command }), () => ({ task_id: id }));
  }),

  task_update: handle(operations.taskUpdate, async (call) => {
    const settled = await order(call, { kind: 'update-task', command: call.input });
    return answerOf(settled, () => ({ task_id: call.input.task_id, status: call.input.status }));
  }),

  task_self_approve: handle(operations.taskSelfApprove, async (call) => {
    const { task_id: id, reason } = call.input;
    const command = { id, reason };
    return answerOf(await order(call, { kind: 'self-approve', command }), () => ({ task_id: id }));
  }),

  task_unblock: operate(operations.taskUnblock, 'unblock'),
  task_reinstate: operate(operations.taskReinstate, 'reinstate'),
  task_cancel: operate(operations.taskCancel, 'cancel'),
  task_waive: operate(operations.taskWaive, 'waive'),
};

/** The most urgent tasks that this caller could claim: an author is not offered the review of the own work. */
function findWork({ ready, state, rules }: View, caller: Caller, count: number, role?: string): readonly Task[] {
  const principal = principalOf(state, caller);
  return firstFitting(ready, state, count, (task) => mayTake(state, task, principal, rules), role);
}

interface Claimed {
  readonly task_id: string;
  readonly epoch: number;
  readonly session_id: string;
  /** The role that the task waits for, where it was claimed without one. */
  readonly next_role?: string;
}

/** Inside of the repository also after its links are followed. */
export function isFileIn(repository: string, path: string): boolean {
  if (!isRelativePath(path)) return false;
  try {
    const real = realpathSync(join(repository, path));
    return real.startsWith(`${realpathSync(repository)}/`) && statSync(real).isFile();
  } catch {
    return false;
  }
}

/** A claim of a task that is taken, or that waits for another, may work out in a while. */
const MAY_PASS: ReadonlySet<string> = new Set(['already-claimed', 'waits', 'not-workable']);

const NO_WORK = refusal('no-work', 'there is nothing to claim', 'Wait for work with wait_ms, or see: baton task list');

/** Sends a command of the kernel on behalf of the caller; `complete` may add what belongs into the same commit. */
export async function order<A>(
  call: Call,
  command: Command,
  complete: (outcome: Outcome<A>, view: Pick<View, 'state' | 'rules'>) => Outcome<A> = (outcome) => outcome,
) {
  return call.project.keeper.submit<A>({
    actor: actorOf(call.caller),
    ...keyOf(call),
    // The kernel answers each kind of command with its own kind of answer; the caller names it.
    decide: ({ state, rules }) => complete(decide(state, command, call.caller, rules) as Outcome<A>, { state, rules }), // oxlint-disable-line typescript/no-unsafe-type-assertion
  });
}

function keyOf({ key }: Pick<Call, 'key'>): { readonly key?: string } {
  return key === undefined ? {} : { key };
}

function operate(
  operation: typeof operations.taskUnblock,
  action: 'unblock' | 'reinstate' | 'cancel' | 'waive',
): Handler {
  return handle(operation, async (call) => {
    const { task_id: id, reason } = call.input;
    return answerOf(await order(call, { kind: 'operate-task', command: { id, action, reason } }), () => ({
      task_id: id,
    }));
  });
}

function seen<A>(answer: A): Outcome<A> {
  return { ok: true, events: [], answer };
}

async function whyNot(project: Call['project'], taskId: string, caller: Caller) {
  const settled = await project.keeper.read(({ state }) => state.tasks.get(taskId)?.epoch);
  const newest = settled.ok ? (settled.answer ?? 0) : 0;
  const epoch = caller.kind === 'session' ? caller.epoch : 0;
  const message =
    epoch < newest ? `stale claim: epoch ${epoch} < ${newest}` : `the claim on ${taskId} has ended, or is not yours`;
  return { code: epoch < newest ? 'stale-claim' : 'claim-ended', message, hint: 'Stop working on this task.' };
}
