import type { ProjectCalls } from '../../api/client/signed-client.ts';
import type { TaskOverview } from '../../api/operations/task-view.ts';
import { renderStatus } from '../status/render-status.ts';
import { addTask } from './add-task.ts';
import type { Editor } from './editor.ts';
import { fencedText } from './plain-text.ts';
import { toRpcError } from './rpc-errors.ts';

interface Place {
  readonly client: ProjectCalls;
  readonly editor: Editor;
}

/** Throws if the daemon does not answer. With another number, the whole ledger would be reported. */
export async function requireHeadSeq({ client }: Pick<Place, 'client'>): Promise<number> {
  const answer = await client.call('ledger_head', {});
  if (!answer.ok) throw toRpcError(answer.error);
  return answer.result.size;
}

export async function requireTask(taskId: string, { client }: Pick<Place, 'client'>): Promise<TaskOverview> {
  const answer = await client.call('task_view', { task_id: taskId });
  if (!answer.ok) throw toRpcError(answer.error);
  return answer.result;
}

export async function showStatus({ client, editor }: Place): Promise<void> {
  const answer = await client.call('status_get', {});
  if (!answer.ok) throw toRpcError(answer.error);
  const lines = renderStatus(answer.result, { columns: STATUS_COLUMNS, now: new Date(), colors: false });
  const { content } = fencedText(lines.join('\n'));
  editor.markdown(`${content.text}\n\n`);
}

export async function noteTask(taskId: string, text: string, { client, editor }: Place): Promise<void> {
  const answer = await client.call('task_note', { task_id: taskId, text });
  if (!answer.ok) throw toRpcError(answer.error);
  const isHeard = answer.result.agent_id !== null;
  editor.say(
    `Noted on ${taskId}: ${isHeard ? 'the agent gets the note as a message' : 'the next session on the task reads the note'}.`,
  );
}

export async function createTask(
  given: { readonly title: string; readonly description: string },
  { client, editor }: Place,
): Promise<void> {
  const answer = await addTask(given, client);
  if (!answer.ok) throw toRpcError(answer.error);
  const { task_id: id } = answer.result;
  editor.say(`Added ${id}. Start its workflow: /run issue --task ${id}`);
}

const STATUS_COLUMNS = 100;
