import { usesExitProtocol } from '../../state/tasks/exit-protocol.ts';
import type { Task } from '../../state/tasks/task.ts';
import { taskUrls } from '../../state/workflow/task-url.ts';
import type { Services } from './call.ts';

/** A task in its workflow, as surfaces and the built-in roles see it. */
export function workflowView(task: Task, { rulebook, exitProtocol }: Services) {
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

export type WorkflowView = ReturnType<typeof workflowView>;
