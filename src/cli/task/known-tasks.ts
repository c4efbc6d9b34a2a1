import { mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Where what is to be said about a task stands, beside the runbooks: from the top of the repository. */
export function descriptionPath(id: string): string {
  return `.baton/tasks/${id}.md`;
}

export function readDescription(top: string, id: string): string {
  try {
    return readFileSync(join(top, descriptionPath(id)), 'utf8').trimEnd();
  } catch {
    return '';
  }
}

export interface WrittenDescriptions {
  /** Ids of tasks that have a file now. */
  readonly ids: ReadonlySet<string>;
  /** Those whose file was there, and says something else. */
  readonly different: readonly string[];
  /** Takes back what was written, where the import comes to nothing. */
  readonly undo: () => void;
}

/** A file for each description. One that is there is never written over, whatever it says. */
export function writeDescriptions(
  top: string,
  tasks: readonly { readonly id: string; readonly description: string }[],
): WrittenDescriptions {
  const described = tasks.filter(({ description }) => description !== '');
  const made: string[] = [];
  const folders = described.length === 0 ? [] : makeFolder(top);
  const undo = (): void => {
    for (const path of made) rmSync(path, { force: true });
    for (const folder of folders.toReversed()) removeIfEmpty(folder);
  };
  const different: string[] = [];
  try {
    for (const { id, description } of described) {
      const path = join(top, descriptionPath(id));
      if (isSameText(path, `${description}\n`)) made.push(path);
      else if (readDescription(top, id) !== description.trimEnd()) different.push(id);
    }
  } catch (error) {
    undo();
    throw error;
  }
  return { ids: new Set(described.map(({ id }) => id)), different, undo };
}

/** The folders that had to be made. A link that leads out of the repository is not followed. */
function makeFolder(top: string): string[] {
  const folders = [join(top, '.baton'), join(top, '.baton/tasks')];
  const made = folders.filter((folder) => mkdirSync(folder, { recursive: true }) !== undefined);
  const inside = realpathSync(join(top, '.baton/tasks'));
  if (!inside.startsWith(`${realpathSync(top)}/`)) throw new Error(`${inside} is not in this repository`);
  return made;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody has put something there in the meantime.
  }
}

function isSameText(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
