import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from '../../api/answer.ts';
import type { InputOf } from '../../api/operations/registry.ts';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import type { ImportTasks } from '../../state/import-tasks.ts';
import type { Call, Refused } from './call.ts';

export function checkImport(call: Call, { source, tasks }: InputOf<'task_import'>): Answer<ImportTasks> {
  const files = tasks.map(({ prompt_file: file }) => file);
  const refused = checkPromptFiles(call, files);
  if (refused !== undefined) return refused;
  const imported = tasks.map(({ task_id: id, prompt_file: file, github_issue: issue, ...task }) => ({
    id,
    ...task,
    ...(file === undefined ? {} : { promptFile: file }),
    ...(issue === undefined ? {} : { githubIssue: issue }),
  }));
  return { ok: true, result: { source, tasks: imported } };
}

/** Checked here, because the kernel reads no files. */
export function checkPromptFiles({ project }: Call, files: readonly (string | undefined)[]): Refused | undefined {
  const missing = files.find((file) => file !== undefined && !isFileInRepository(project.path, file));
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

/** Follows links, because the target must be inside the repository too. */
function isFileInRepository(repository: string, path: string): boolean {
  if (!isRelativePath(path)) return false;
  try {
    const real = realpathSync(join(repository, path));
    return real.startsWith(`${realpathSync(repository)}/`) && statSync(real).isFile();
  } catch {
    return false;
  }
}
