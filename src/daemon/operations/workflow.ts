import * as operations from '../../api/operations/workflow.ts';
import type { WorkflowView } from '../../api/operations/workflow.ts';
import { checkClaim } from '../../state/caller.ts';
import { refusal } from '../../state/outcome.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import { type Task, usesExitProtocol } from '../../state/tasks/task.ts';
import { taskUrls } from '../../state/workflow/gate-handoffs.ts';
import { type Call, handlerFor, reads, refusalOf, type Services, submits, unchanged } from './call.ts';
import { closeWorkflow } from './close-workflow.ts';
import { githubIssuesHandler } from './github-issues.ts';
import { findHandoffs, type FoundHandoff } from './handoffs.ts';

export const WORKFLOW_HANDLERS = {
  merge_request: submits(
    operations.mergeRequest,
    (_, call) => ({ id: ownTask(call), mergeId: `merge-${call.services.newId()}` }),
    (asked, _, call) => ({ task_id: ownTask(call), ...asked }),
  ),

  workflow_get: reads(operations.workflowGet, ({ state }, call) => {
    const id = ownTask(call);
    const task = state.tasks.get(id);
    return task === undefined ? refuseUnknownTask(id) : unchanged(workflowView(task, call.services));
  }),

  workflow_close: handlerFor(operations.workflowClose, async (call) => {
    const id = ownTask(call);
    const { caller } = call;
    const settled = await call.project.commandLoop.submit({
      actor: 'system:reader',
      decide: ({ state }) => {
        const task = state.tasks.get(id);
        if (task === undefined) return refuseUnknownTask(id);
        const held = caller.kind === 'session' ? checkClaim(task, caller) : undefined;
        if (held?.ok === false) return held;
        if (task.phase !== 'COMPLETED')
          return refusal(
            'not-mergeable',
            `task ${id} is ${task.phase}, not COMPLETED`,
            'It is closed once it is merged.',
          );
        const dependants = [...state.tasks.values()].filter(({ after }) => after.includes(id)).map((each) => each.id);
        return unchanged({ task, dependants });
      },
    });
    if (!settled.ok) return refusalOf(settled);
    return { ok: true, result: await closeWorkflow(settled.answer, call) };
  }),

  github_issues: githubIssuesHandler,

  handoff_list: handlerFor(operations.handoffList, async ({ project, input: { task_id: asked } }) => {
    await project.commandLoop.whenIdle();
    const known = await project.commandLoop.submit({
      actor: 'system:reader',
      decide: ({ state }) => (asked === undefined || state.tasks.has(asked) ? unchanged({}) : refuseUnknownTask(asked)),
    });
    if (!known.ok) return refusalOf(known);
    const found = await findHandoffs(project.ledger, ({ task_id }) => asked === undefined || task_id === asked);
    return { ok: true, result: { handoffs: found.map(withoutXml) } };
  }),

  handoff_show: handlerFor(operations.handoffShow, async ({ project, input }) => {
    await project.commandLoop.whenIdle();
    const found = await findHandoffs(project.ledger, ({ handoff_id }) => handoff_id.startsWith(input.id));
    const [first, second] = found;
    if (first !== undefined && second === undefined) return { ok: true, result: first };
    const message =
      first === undefined ? `there is no handoff ${input.id}` : `${input.id} is the beginning of ${found.length} ids`;
    const code = first === undefined ? 'no-such-handoff' : 'ambiguous';
    return { ok: false, error: { code, message, hint: 'See: baton handoff list' } };
  }),
};

function withoutXml(found: FoundHandoff) {
  const { handoff_id, task_id, from, to, seq, at, status, reason } = found;
  return { handoff_id, task_id, from, to, seq, at, status, reason };
}

function ownTask({ input, caller }: Call<{ readonly task_id?: string }>): string {
  return input.task_id ?? (caller.kind === 'session' ? caller.taskId : '');
}

function workflowView(task: Task, { rulebook, exitProtocol }: Services): WorkflowView {
  const { flow, id, n, title, phase, nextRole, claim, blocked } = task;
  const { place, checks, approval, held, merge, pull } = flow;
  return {
    task_id: id,
    n,
    title,
    phase,
    role: claim?.role ?? nextRole,
    blocked_because: blocked?.reason ?? null,
    mode: flow.mode,
    started_at: flow.startedAt,
    addresses: taskUrls(task),
    workspace: place?.workspace ?? null,
    branch: place?.branch ?? null,
    base: place?.base ?? null,
    port: place?.port ?? null,
    head: flow.head,
    rounds: flow.rounds,
    reviews: flow.reviews,
    commits: flow.commits,
    approval,
    waits_for_person: held === null ? null : { decision_id: held.decisionId, stage: held.stage },
    checks:
      checks === null
        ? null
        : {
            head: checks.head,
            outcome: checks.outcome,
            checks: checks.plans.map(({ name }) => ({ name, outcome: checks.outcomes[name] ?? 'pending' })),
          },
    pull_request:
      pull === null
        ? null
        : {
            repository: pull.repository,
            number: pull.number,
            url: pull.url,
            head: pull.published,
            is_wanted: pull.isWanted,
            is_closed: pull.isClosed,
          },
    protected_paths: flow.protected?.paths ?? [],
    is_merging: merge !== null,
    merge_sha: flow.mergeSha,
    handoff: flow.handoff === null ? null : { from: flow.handoff.from, to: flow.handoff.to, xml: flow.handoff.xml },
    exit_protocol: usesExitProtocol(task, exitProtocol),
    commands: rulebook.runbookFor(task).workflowCommands,
  };
}
