import type { Operation } from '../../api/operations/operation.ts';
import type { InputOf } from '../../api/operations/registry.ts';
import * as imports from '../../api/operations/import.ts';
import { taskViewRead } from '../../api/operations/task-view.ts';
import * as byOperator from '../../api/operations/operate-tasks.ts';
import * as operations from '../../api/operations/tasks.ts';
import type { Claim, ClaimView, TaskDetails, TaskView } from '../../api/operations/tasks.ts';
import { readProcessIdentity } from '../../api/processes.ts';
import { type Caller, principalOf } from '../../state/caller.ts';
import { decide } from '../../state/decide.ts';
import { isHere } from '../../state/fleet/owner.ts';
import { refusal } from '../../state/outcome.ts';
import { mayReadDecisions } from '../../state/read-access.ts';
import { authorOfTask } from '../../state/packet/author-of.ts';
import { rulesInForce } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import { mayWorkHere } from '../../state/fleet/task-work.ts';
import { isClaimable } from '../../state/tasks/claim-task.ts';
import { type Task, taskStatus } from '../../state/tasks/task.ts';
import { findFittingTasks, mayClaim } from '../../state/tasks/worker-fit.ts';
import { githubIssueUrl } from '../../state/workflow/github-issue.ts';
import { type DecideContext, LATER } from '../loop/request.ts';
import type { Project } from '../project/project.ts';
import { hostField } from '../views/run-views.ts';
import { buildTaskView } from '../views/task-view.ts';
import {
  answerFor,
  type Call,
  handlerFor,
  keyOf,
  reads,
  refusalOf,
  type Services,
  submitCommand,
  submits,
  unchanged,
} from './call.ts';
import { checkPromptFiles, importTasks } from './import-tasks.ts';

export const TASK_HANDLERS = {
  task_create: handlerFor(operations.taskCreate, async (call) => {
    const { task_id: id, role, prompt_file, epic_id, prd_id, ...rest } = call.input;
    const refused = await checkPromptFiles(call, [prompt_file]);
    if (refused !== undefined) return refused;
    const command = {
      id,
      ...rest,
      ...(role === undefined ? {} : { nextRole: role }),
      ...(prompt_file === undefined ? {} : { promptFile: prompt_file }),
      ...(epic_id === undefined ? {} : { epicId: epic_id }),
      ...(prd_id === undefined ? {} : { prdId: prd_id }),
    };
    const settled = await submitCommand(call, { kind: 'create-task', command });
    const limited = (priority: number) => (priority < (rest.priority ?? 0) ? { priority } : {});
    return answerFor(settled, ({ n, priority }) => ({ task_id: id, n, ...limited(priority) }));
  }),

  task_import: handlerFor(imports.taskImport, importTasks),

  task_get: reads(operations.taskGet, ({ state }, { input, project, services }) => {
    const task = state.tasks.get(input.task_id);
    if (task === undefined) return refuseUnknownTask(input.task_id);
    return unchanged(taskDetails(project, state, task, services));
  }),

  task_view: reads(taskViewRead, ({ state, rules }, { input, caller, project, services }) => {
    const task = state.tasks.get(input.task_id);
    if (task === undefined) return refuseUnknownTask(input.task_id);
    const details = taskDetails(project, state, task, services);
    const showsDecisions = mayReadDecisions(state, caller, task.id);
    return unchanged(buildTaskView(state, details, { at: services.now().toISOString(), rules, showsDecisions }));
  }),

  task_list: reads(operations.taskList, ({ state }, { input, project, services }) => {
    const { status, phase, after_n = 0, limit = 100 } = input;
    const fits = (task: Task): boolean =>
      task.n > after_n &&
      (status === undefined || taskStatus(task) === status) &&
      (phase === undefined || task.phase === phase);
    const found = [...state.tasks.values()].filter(fits);
    const tasks = found.slice(0, limit).map((task) => taskView(project, state, task, services));
    return unchanged({ tasks, total: found.length });
  }),

  task_descriptions: reads(imports.taskDescriptions, ({ state }, { input: { after_n = 0, limit = 100 } }) => {
    const described = [...state.tasks.values()].flatMap(({ id: task_id, n, description }) =>
      n > after_n && description !== null ? [{ task_id, n, description }] : [],
    );
    return unchanged({ tasks: described.slice(0, limit) });
  }),

  task_next_actions: handlerFor(operations.taskNextActions, async ({ input, caller, project, services, signal }) => {
    const { limit = 10, role, wait_ms: ms = 0 } = input;
    const settled = await project.commandLoop.submit<readonly TaskView[]>({
      actor: 'system:reader',
      waitsFor: 'work',
      waitLimit: { ms, otherwise: unchanged([]), ...(signal === undefined ? {} : { signal }) },
      decide: (view) => {
        const tasks = findClaimableTasks(view, caller, limit, role).map((task) =>
          taskView(project, view.state, task, services),
        );
        return tasks.length === 0 && ms > 0 ? LATER : unchanged(tasks);
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
    const settled = await project.commandLoop.submit<Omit<Claim, 'token' | 'expires_at'>>({
      actor: `session:${sessionId}`,
      ...keyOf(call),
      ...(input.task_id === undefined ? { waitsFor: 'work' } : {}),
      waitLimit: { ms, otherwise: NO_WORK, ...(call.signal === undefined ? {} : { signal: call.signal }) },
      decide: (view) => {
        const id = input.task_id ?? findClaimableTasks(view, call.caller, 1, role)[0]?.id;
        if (id === undefined) return ms > 0 ? LATER : NO_WORK;
        const command = { id, sessionId, holder, ...(role === undefined ? {} : { role }), ...process };
        const outcome = decide(view.state, { kind: 'claim-task', command }, call.caller, view.rules, view.here);
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
    const renewed = own === task_id ? await project.renewClaim(task_id, epoch) : ({ ok: true, answer: false } as const);
    if (caller.kind === 'session')
      project.lastReports.noteFrozen(caller.sessionId, input.frozen === true, services.monotonicMs());
    // An unknown state must not look like an end, because the caller would stop.
    if (!renewed.ok) return refusalOf(renewed);
    if (renewed.answer) {
      const leaseMs = project.leaseMs(task_id, epoch);
      const lease = leaseMs === null ? {} : { lease_ms: Math.max(0, Math.floor(leaseMs)) };
      return { ok: true, result: { task_id, epoch, expires_at: expiresAt(project, task_id, services), ...lease } };
    }
    return { ok: false, error: await readLostClaimError(project, task_id, caller) };
  }),

  task_release: submits(
    operations.taskRelease,
    ({ task_id: id, ...rest }) => ({ id, ...rest }),
    (_, { task_id }) => ({ task_id }),
  ),

  task_update: submits(
    operations.taskUpdate,
    (update) => update,
    (_, { task_id, status }) => ({ task_id, status }),
  ),

  task_self_approve: submits(
    byOperator.taskSelfApprove,
    ({ task_id: id, reason }) => ({ id, reason }),
    (_, { task_id }) => ({ task_id }),
  ),

  task_waive_constraint: submits(
    byOperator.taskWaiveConstraint,
    ({ task_id: id, constraint, reason }) => ({ id, constraint, reason }),
    (_, { task_id }) => ({ task_id }),
  ),

  task_rules: submits(
    byOperator.taskRules,
    ({ task_ids: ids }) => ({ ids }),
    ({ moved, released }) => ({ moved: [...moved], released: [...released] }),
  ),

  task_note: submits(
    operations.taskNote,
    (note) => note,
    ({ agentId: agent_id }, { task_id }) => ({ task_id, agent_id }),
  ),

  task_unblock: operates(byOperator.taskUnblock, 'unblock'),
  task_reinstate: operates(byOperator.taskReinstate, 'reinstate'),
  task_cancel: operates(byOperator.taskCancel, 'cancel'),
  task_waive: operates(byOperator.taskWaive, 'waive'),
};

function operates(
  operation: Operation<string, InputOf<'task_unblock'>, { readonly task_id: string }, 'operate-task'>,
  action: 'unblock' | 'reinstate' | 'cancel' | 'waive',
) {
  return submits(
    operation,
    ({ task_id: id, reason }) => ({ id, action, reason }),
    (_, { task_id }) => ({ task_id }),
  );
}

/** The most urgent tasks that this caller may claim. An author is not offered the review of their own work. */
function findClaimableTasks(
  { ready, state, rules, here }: DecideContext,
  caller: Caller,
  count: number,
  role?: string,
): readonly Task[] {
  const principal = principalOf(state, caller);
  const fits = (task: Task) => mayClaim(state, task, principal, rules) && mayWorkHere(state, task, here);
  return findFittingTasks((most) => ready.first(state, most, role), count, fits);
}

/** Refusals that may become invalid while the caller waits. */
const TEMPORARY_REFUSALS: ReadonlySet<string> = new Set(['already-claimed', 'waits', 'not-workable']);
const NO_WORK = refusal('no-work', 'there is nothing to claim', 'Wait for work with wait_ms, or see: baton task list');

async function readLostClaimError(project: Call['project'], taskId: string, caller: Caller) {
  const settled = await project.commandLoop.read(({ state }) => state.tasks.get(taskId)?.epoch);
  const newest = settled.ok ? (settled.answer ?? 0) : 0;
  const epoch = caller.kind === 'session' ? caller.epoch : 0;
  const message =
    epoch < newest ? `stale claim: epoch ${epoch} < ${newest}` : `the claim on ${taskId} has ended, or is not yours`;
  return { code: epoch < newest ? 'stale-claim' : 'claim-ended', message, hint: 'Stop working on this task.' };
}

function taskView(project: Project, state: State, task: Task, clocks: ViewClocks): TaskView {
  return {
    id: task.id,
    n: task.n,
    title: task.title,
    status: taskStatus(task),
    phase: task.phase,
    claimable: isClaimable(state, task, rulesInForce(state, project.rules)),
    next_role: task.nextRole,
    after: task.after,
    priority: task.priority,
    progress: task.progress,
    notes: task.notes,
    blocked_because: task.blocked?.reason ?? null,
    github_issue: task.githubIssue === null ? null : githubIssueUrl(task.githubIssue),
    claim: claimView(project, state, task, clocks),
    protected_paths: task.flow.protected?.paths ?? [],
  };
}

function taskDetails(project: Project, state: State, task: Task, clocks: ViewClocks): TaskDetails {
  const { endings, latestRecord: latest_record, flow, description } = task;
  const view = { description, ...taskView(project, state, task, clocks), ...waitsView(state, task) };
  const author = authorOfTask(task);
  return { ...view, author, endings, latest_record, authors: flow.authors, self_approval: flow.selfApproval };
}

function waitsView({ tasks, decisions }: State, { id, after }: Task): Pick<TaskDetails, 'waits_for' | 'decision_ids'> {
  const before = after.flatMap((each) => tasks.get(each) ?? []).filter(({ phase }) => phase !== 'COMPLETED');
  const open = [...decisions.values()].filter(({ taskId, result }) => taskId === id && result === null);
  return {
    waits_for: before.map((task) => ({
      task_id: task.id,
      status: taskStatus(task),
      blocked_because: task.blocked?.reason ?? null,
    })),
    decision_ids: open.map((decision) => decision.id),
  };
}

type ViewClocks = Pick<Services, 'now' | 'monotonicMs'>;

function claimView(project: Project, state: State, { id, claim }: Task, clocks: ViewClocks): ClaimView | null {
  if (claim === null) return null;
  const { epoch, holder, principal, role, sessionId, at } = claim;
  return {
    epoch,
    holder,
    principal,
    role,
    session_id: sessionId,
    since: at,
    ...(isHere(claim, state, project.fleet?.here) ? { expires_at: expiresAt(project, id, clocks) } : {}),
    ...hostField(claim, state),
  };
}

/** Converts to the time of day for callers. Leases use a monotonic clock. */
function expiresAt(project: Project, taskId: string, { now, monotonicMs }: ViewClocks): string {
  const remainingMs = project.leases.remaining(taskId, monotonicMs()) ?? 0;
  return new Date(now().getTime() + remainingMs).toISOString();
}
