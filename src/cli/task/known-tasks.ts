import { mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiError, OrError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { TaskView } from '../../api/operations/tasks.ts';
import type { ExchangedTask } from '../../exchange/task.ts';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { utf8Length } from '../../protocol/text/text-format.ts';

export interface KnownTask extends Omit<ExchangedTask, 'description' | 'githubIssue'> {
  /** The address of the issue that the task was imported from. */
  readonly issueUrl: string | null;
}

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

function knownTask(task: TaskView): KnownTask {
  const { id, title, status, after, priority, blocked_because: reason, github_issue: issueUrl } = task;
  // The status already shows that a task is cancelled.
  const why = status === 'cancelled' ? reason?.replace(/^cancelled: /, '') : reason;
  return { id, title, status, after, priority, reason: why ?? null, issueUrl };
}

/** Reads the descriptions in the ledger, by task. */
export async function readDescriptions(
  client: Client,
): Promise<OrError<{ readonly texts: ReadonlyMap<string, string> }>> {
  const texts = new Map<string, string>();
  for (let last = 0; ;) {
    const answer = await client.call('task_descriptions', { limit: DESCRIPTIONS, after_n: last });
    if (!answer.ok) return answer;
    const { tasks } = answer.result;
    for (const { task_id, description } of tasks) texts.set(task_id, description);
    if (tasks.length < DESCRIPTIONS) return { ok: true, texts };
    last = tasks.at(-1)?.n ?? last + DESCRIPTIONS;
  }
}

const DESCRIPTIONS = 100;

/** The path from the root of the repository. */
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

/** Whether the description fits in the ledger: its entry also holds title and dependencies. */
export function isRecordable({ title, description, after }: Described): boolean {
  const bytes = utf8Length(JSON.stringify({ title, description, after }));
  return utf8Length(description) <= PROTOCOL_LIMITS.descriptionBytes && bytes <= MOST_ENTRY_BYTES;
}

/** Leaves room for the other fields of the entry. */
const MOST_ENTRY_BYTES = 60_000;

type Described = Pick<ExchangedTask, 'id' | 'title' | 'description' | 'after'>;

export interface WrittenDescriptions {
  /** Ids of tasks with a description file. */
  readonly ids: ReadonlySet<string>;
  /** Ids of tasks whose file was created, because the description does not fit in the ledger. */
  readonly created: readonly string[];
  /** Ids of tasks whose file existed with other content. */
  readonly different: readonly string[];
  readonly undo: () => void;
}

/**
 * Writes a file for each description that does not fit in the ledger. An existing file with other content is kept, and
 * belongs to the task too.
 */
export function writeDescriptions(top: string, tasks: readonly Described[]): WrittenDescriptions {
  const described = tasks.filter(({ description }) => description !== '');
  const isOther = ({ id, description }: Described): boolean =>
    !['', description.trimEnd()].includes(readDescription(top, id));
  const different = described.filter(isOther).map(({ id }) => id);
  const filed = described.filter((task) => !isRecordable(task));
  const created: string[] = [];
  const folders = filed.length === 0 ? [] : makeFolder(top);
  const undo = (): void => {
    for (const id of created) rmSync(join(top, descriptionPath(id)), { force: true });
    for (const folder of folders.toReversed()) removeIfEmpty(folder);
  };
  try {
    for (const { id, description } of filed)
      if (createFile(join(top, descriptionPath(id)), `${description}\n`)) created.push(id);
  } catch (error) {
    undo();
    throw error;
  }
  return { ids: new Set([...different, ...filed.map(({ id }) => id)]), created, different, undo };
}

/** Returns the created folders. Refuses a link that leads out of the repository. */
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
    // The folder is not empty.
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
