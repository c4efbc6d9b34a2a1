import * as operations from '../../api/operations/writeback.ts';
import type { ApiError } from '../../api/answer.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import type { RecordThought } from '../../state/tasks/record-session.ts';
import { answerFor, handlerFor, type OperationHandler } from './handler.ts';
import type { Call } from './call.ts';
import { submitCommand } from './tasks.ts';

export const WRITEBACK_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  thought_record: handlerFor(operations.thoughtRecord, async (call) => {
    const error = await checkCommit(call);
    if (error !== undefined) return { ok: false, error };
    const settled = await submitCommand<{ recordId: string }>(call, {
      kind: 'record-thought',
      command: commandOf(call),
    });
    if (!settled.ok && 'problem' in settled) return { ok: false, error: WRITEBACK_FAILED };
    return answerFor(settled, ({ recordId }) => ({ record_id: recordId, task_id: call.input.task_id }));
  }),

  task_complete: handlerFor(operations.taskComplete, async (call) => {
    const error = await checkCommit(call);
    if (error !== undefined) return { ok: false, error };
    const settled = await submitCommand(call, { kind: 'complete-task', command: commandOf(call) });
    if (!settled.ok && 'problem' in settled) return { ok: false, error: WRITEBACK_FAILED };
    return answerFor(settled, () => ({ task_id: call.input.task_id, status: 'done' }));
  }),

  thought_list: handlerFor(operations.thoughtList, async ({ input, project }) => {
    const settled = await project.commandLoop.submit({
      actor: 'system:reader',
      decide: ({ state }) => {
        const task = state.tasks.get(input.task_id);
        if (task === undefined) return refuseUnknownTask(input.task_id);
        return { ok: true, events: [], answer: { records: task.records.toReversed(), latest: task.latestRecord } };
      },
    });
    return answerFor(settled, (answer) => answer);
  }),
};

type RecordCall = Call<ThoughtRecord & { readonly epoch?: number }>;

const WRITEBACK_FAILED: ApiError = {
  code: 'writeback-failed',
  message: 'Writeback failed: unable to insert thought_record. Retry with fresh DB connection or escalate.',
  hint: 'The task stays in progress. Send the record again; nothing of it was stored.',
};

function commandOf({ input: { epoch, ...record }, services }: RecordCall): RecordThought {
  return { recordId: services.newId(), record, ...(epoch === undefined ? {} : { epoch }) };
}

/** A record names a commit that is there: what cannot be looked up later proves nothing. */
async function checkCommit({ input, project, services }: RecordCall): Promise<ApiError | undefined> {
  const problem = await services.git.keepCommit(project.own, input.commit_sha);
  if (problem === undefined) return undefined;
  const { code, hint } = problem;
  const isAbout = problem.message.startsWith(`commit ${input.commit_sha.toLowerCase()} is missing`);
  // Part of it is missing or changed, or git does not answer: that is another matter than a wrong name.
  if (!isAbout && code !== 'git/no-commit' && code !== 'git/bad-name') return { code, message: problem.message, hint };
  const message = `commit ${input.commit_sha} is not in the repository`;
  return { code: 'no-such-commit', message, hint: 'Commit first, and send the full SHA: git rev-parse HEAD' };
}
