import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { ExchangedTask, TaskStatus } from '../../exchange/task.ts';
import { SHOWN_STATUSES } from '../../protocol/shape/shared-fields.ts';

/** A task of Baton, as far as other tools know such a thing. */
export type KnownTask = Omit<ExchangedTask, 'description'>;

/** All tasks of the project, oldest first. */
export async function readKnownTasks(
  client: Client,
): Promise<
  { readonly ok: true; readonly tasks: readonly KnownTask[] } | { readonly ok: false; readonly error: ApiError }
> {
  const tasks: KnownTask[] = [];
  for (let last = 0; ;) {
    const answer = await client.call('task_list', { limit: PAGE, after_n: last });
    if (!answer.ok) return answer;
    const page = tasksIn(answer.result);
    tasks.push(...page.map(({ task }) => task));
    if (page.length < PAGE) return { ok: true, tasks };
    last = page.at(-1)?.n ?? last + PAGE;
  }
}

const PAGE = 1000;

function tasksIn(result: unknown): { readonly n: number; readonly task: KnownTask }[] {
  const list = typeof result === 'object' && result !== null && 'tasks' in result ? result.tasks : [];
  return Array.isArray(list)
    ? list.flatMap((each: unknown) => (isTaskRow(each) ? [{ n: each.n, task: knownTask(each) }] : []))
    : [];
}

interface TaskRow {
  readonly id: string;
  readonly n: number;
  readonly title: string;
  readonly status: TaskStatus;
  readonly after: readonly string[];
  readonly priority: number;
  readonly blocked_because?: string | null;
}

function isTaskRow(value: unknown): value is TaskRow {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'id' in value && 'after' in value && 'status' in value && SHOWN_STATUSES.some((status) => status === value.status)
  );
}

function knownTask({ id, title, status, after, priority, blocked_because: reason }: TaskRow): KnownTask {
  // Where the status says it, the reason need not.
  const why = status === 'cancelled' ? reason?.replace(/^cancelled: /, '') : reason;
  return { id, title, status, after, priority, reason: why ?? null };
}
