import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import type { Answer } from '../../api/answer.ts';
import type { InputOf, ResultOf } from '../../api/operations/registry.ts';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { isRelativePath, utf8Length } from '../../protocol/text/text-format.ts';
import { type CommandOf, decide } from '../../state/decide.ts';
import type { ImportTasks } from '../../state/import-tasks.ts';
import { type Call, type Refused, refusalOf, submitCommand } from './call.ts';

/**
 * Records a large import in parts, because nobody else is answered while one commit is decided. The whole list is
 * checked first, so a list with a mistake creates nothing. After a kill in between, the same call completes the import:
 * existing tasks are not created again.
 */
export async function importTasks(call: Call<InputOf<'task_import'>>): Promise<Answer<ResultOf<'task_import'>>> {
  // Reading the input, checking it and recording the first part take some tens of milliseconds each.
  await immediate();
  const checked = await checkImport(call, call.input);
  if (!checked.ok) return checked;
  const parts = splitImport(checked.result);
  if (parts.length > 1) {
    await immediate();
    const whole: CommandOf<'import-tasks'> = { kind: 'import-tasks', command: checked.result };
    const tried = await call.project.commandLoop.read(({ state, rules, here }) =>
      decide(state, whole, call.caller, rules, here),
    );
    if (!tried.ok) return refusalOf(tried);
    if (!tried.answer.ok) return refusalOf(tried.answer);
    await immediate();
  }
  const sum = { added: 0, existing: 0 };
  for (const [i, command] of parts.entries()) {
    const ofPart = call.key === undefined || parts.length === 1 ? call : { ...call, key: `${call.key}/${i}` };
    const settled = await submitCommand(ofPart, { kind: 'import-tasks', command });
    if (!settled.ok) return refusalOf(settled);
    sum.added += settled.answer.added;
    sum.existing += settled.answer.existing;
  }
  return { ok: true, result: sum };
}

function splitImport({ source, tasks }: ImportTasks): readonly ImportTasks[] {
  const { importPart: size } = PROTOCOL_LIMITS;
  return Array.from({ length: Math.ceil(tasks.length / size) }, (_, i) => ({
    source,
    tasks: tasks.slice(i * size, (i + 1) * size),
  }));
}

export async function checkImport(call: Call, { source, tasks }: InputOf<'task_import'>): Promise<Answer<ImportTasks>> {
  const large = tasks.find((task) => utf8Length(JSON.stringify(task)) > MAX_TASK_BYTES);
  if (large !== undefined) return tooLarge(large.task_id);
  const files = tasks.map(({ prompt_file: file }) => file);
  const refused = await checkPromptFiles(call, files);
  if (refused !== undefined) return refused;
  const imported = tasks.map(({ task_id: id, prompt_file: file, github_issue: issue, ...task }) => ({
    id,
    ...task,
    ...(file === undefined ? {} : { promptFile: file }),
    ...(issue === undefined ? {} : { githubIssue: issue }),
  }));
  return { ok: true, result: { source, tasks: imported } };
}

/** A larger one would not fit an entry, so a later part of the import would be refused. */
const MAX_TASK_BYTES = 60_000;

function tooLarge(id: string): Refused {
  const message = `task ${id} is too large: more than ${MAX_TASK_BYTES} bytes`;
  return {
    ok: false,
    error: { code: 'too-large', message, hint: 'Shorten its texts, or its list of tasks before it.' },
  };
}

/** Checked here, because the kernel reads no files. */
export async function checkPromptFiles(
  { project }: Call,
  files: readonly (string | undefined)[],
): Promise<Refused | undefined> {
  const missing = await findMissing(project.path, files);
  if (missing === undefined) return undefined;
  const message = `prompt_file '${missing}' is not a file in the repository`;
  return {
    ok: false,
    error: {
      code: 'bad-request',
      message,
      hint: 'Name the file relative to the top of the repository, as in docs/tasks/x.md.',
    },
  };
}

async function findMissing(path: string, files: readonly (string | undefined)[]): Promise<string | undefined> {
  const named = new Set(files.filter((file) => file !== undefined));
  if (named.size === 0) return undefined;
  const repository = await realpath(path);
  for (const file of named) if (!(await isFileInRepository(repository, file))) return file;
  return undefined;
}

/** Follows links, because the target must be inside the repository too. */
async function isFileInRepository(repository: string, path: string): Promise<boolean> {
  if (!isRelativePath(path)) return false;
  try {
    const real = await realpath(join(repository, path));
    return real.startsWith(`${repository}/`) && (await stat(real)).isFile();
  } catch {
    return false;
  }
}
