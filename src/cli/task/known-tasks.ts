import { mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { TaskView } from '../../api/operations/tasks.ts';
import type { ExchangedTask } from '../../exchange/task.ts';

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
    const page = answer.result.tasks;
    tasks.push(...page.map(knownTask));
    if (page.length < PAGE) return { ok: true, tasks };
    last = page.at(-1)?.n ?? last + PAGE;
  }
}

const PAGE = 1000;

function knownTask({ id, title, status, after, priority, blocked_because: reason }: TaskView): KnownTask {
  // The status says that it is cancelled.
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
