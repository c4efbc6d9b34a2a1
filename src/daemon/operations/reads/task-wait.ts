import { taskWait } from '../../../api/operations/task-work.ts';
import { refuseUnknownTask } from '../../../state/tasks/create-task.ts';
import { taskOutlook } from '../../../state/timeline/task-outlook.ts';
import { taskStatus } from '../../../state/tasks/task.ts';
import { handlerFor } from '../call.ts';
import { waitForRun } from '../runs.ts';

export const waitHandler = handlerFor(taskWait, async (call) =>
  waitForRun(call, call.input.wait_ms ?? 0, (state) => {
    const task = state.tasks.get(call.input.task_id);
    if (task === undefined) return refuseUnknownTask(call.input.task_id);
    const { state: how, reason, decisionIds: decision_ids } = taskOutlook(state, task);
    const { id: task_id, title, phase } = task;
    const view = { task_id, title, state: how, status: taskStatus(task), phase, reason, decision_ids };
    return { ok: true, view, isSettled: how !== 'going' };
  }),
);
