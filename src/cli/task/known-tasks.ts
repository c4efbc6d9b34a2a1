import { mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { TaskView } from '../../api/operations/tasks.ts';
import type { ExchangedTask } from '../../exchange/task.ts';

export type KnownTask = Omit<ExchangedTask, 'description'>;

export async function readKnownTasks(
  client: Client,
): Promise<
  { readonly ok: true; readonly tasks: readonly KnownTask[] } | { readonly ok: false; readonly error: ApiError }
> {
  const tasks: KnownTask[] = [];
  for (let last = 0; ;) {
    const answer = await client.call('task_list', { limit: PAGE, after_n: last });
    if (!answer.ok) return answer;
    const page = answer.result.tasks;
    tasks.push(...page.map(knownTask));
    if (page.length < PAGE) return { ok: true, tasks };
    last = page.at(-1)?.n ?? last + PAGE;
  }
}

const PAGE = 1000;

function knownTask({ id, title, status, after, priority, blocked_because: reason }: TaskView): KnownTask {
  // The status already shows that a task is cancelled.
  const why = status === 'cancelled' ? reason?.replace(/^cancelled: /, '') : reason;
  return { id, title, status, after, priority, reason: why ?? null };
}

/** From the root of the repository. */
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
  /** Ids of tasks with a description file. */
  readonly ids: ReadonlySet<string>;
  /** Ids of tasks whose file existed with other content. */
  readonly different: readonly string[];
  readonly undo: () => void;
}

/** Writes a file for each description. An existing file is never overwritten. */
export function writeDescriptions(
  top: string,
  tasks: readonly { readonly id: string; readonly description: string }[],
): WrittenDescriptions {
  const described = tasks.filter(({ description }) => description !== '');
  const created: string[] = [];
  const folders = described.length === 0 ? [] : makeFolder(top);
  const undo = (): void => {
    for (const path of created) rmSync(path, { force: true });
    for (const folder of folders.toReversed()) removeIfEmpty(folder);
  };
  const different: string[] = [];
  try {
    for (const { id, description } of described) {
      const path = join(top, descriptionPath(id));
      if (createFile(path, `${description}\n`)) created.push(path);
      else if (readDescription(top, id) !== description.trimEnd()) different.push(id);
    }
  } catch (error) {
    undo();
    throw error;
  }
  return { ids: new Set(described.map(({ id }) => id)), different, undo };
}

/** Returns the folders that were created. Refuses a link that leads out of the repository. */
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
    // It is not empty.
  }
}

function createFile(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
