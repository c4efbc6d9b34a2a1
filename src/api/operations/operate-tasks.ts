import { CONSTRAINTS } from '../../protocol/agent-session-completed.ts';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { choice, list, object, text } from '../../protocol/shape/build-shape.ts';
import { taskId } from '../../protocol/shape/shared-fields.ts';
import { operation } from './operation.ts';

/** What only operators may do with a task, each with a recorded reason. */
const byOperator = {
  command: 'operate-task',
  tool: false,
  input: object({ task_id: taskId, reason: { kind: 'text', notEmpty: true, about: 'Why; it is recorded.' } }),
  result: object({ task_id: text }),
} as const;

export const taskUnblock = operation({
  ...byOperator,
  name: 'task_unblock',
  about: 'Return a blocked task to the phase that was blocked.',
});
export const taskWaiveConstraint = operation({
  name: 'task_waive_constraint',
  command: 'waive-constraint',
  tool: false,
  about:
    'Waive a constraint for the sessions of one task. The reason is recorded, and shown with the task and in its proof.',
  input: object({
    task_id: taskId,
    constraint: { ...choice(CONSTRAINTS), about: 'The constraint, as the violation names it.' },
    reason: byOperator.input.fields.reason,
  }),
  result: object({ task_id: text }),
});
export const taskRules = operation({
  name: 'task_rules',
  command: 'move-task-rules',
  tool: false,
  about:
    'Move workflows to the rules in force, all of them or none; a workflow keeps the rules it was started with otherwise. A task that a limit blocked continues if the rules in force allow what the limit forbade.',
  input: object({
    task_ids: {
      kind: 'list',
      of: taskId,
      min: 1,
      max: PROTOCOL_LIMITS.importPart,
      about: 'The tasks. No session may work on them, and they must not be in the checks or after.',
    },
  }),
  result: object({
    moved: { ...list(text), about: 'The tasks that had other rules.' },
    released: { ...list(text), about: 'Those of them that were blocked by a limit, and continue.' },
  }),
});
export const taskReinstate = operation({
  ...byOperator,
  name: 'task_reinstate',
  about: 'Reinstate a task: it goes back to IMPLEMENTATION, and its claim ends.',
});
export const taskSelfApprove = operation({
  ...byOperator,
  command: 'self-approve',
  name: 'task_self_approve',
  about:
    'Approve your own change, at its current commit. The reason is recorded, and shown with the task and in its proof.',
});
export const taskCancel = operation({
  ...byOperator,
  name: 'task_cancel',
  about:
    'Cancel a task: its sessions end, its open decisions are withdrawn, its worktree and branch are removed if they hold no work. Only task_reinstate undoes it.',
});
export const taskWaive = operation({
  ...byOperator,
  name: 'task_waive',
  about: 'Complete a task without a thought record. The waiver is recorded.',
});
