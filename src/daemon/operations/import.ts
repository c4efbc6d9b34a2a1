import { taskImport } from '../../api/operations/tasks.ts';
import { answerFor, handlerFor, submitCommand } from './call.ts';
import { isFileInRepository } from './tasks.ts';

/** Creates all tasks with one command. Only the paths are checked here, because the kernel reads no files. */
export const importHandler = handlerFor(taskImport, async (call) => {
  const { input, project } = call;
  const missing = input.tasks.find(
    ({ prompt_file: file }) => file !== undefined && !isFileInRepository(project.path, file),
  );
  if (missing !== undefined) {
    const message = `prompt_file '${missing.prompt_file}' is not a file in the repository`;
    return { ok: false, error: { code: 'bad-request', message, hint: 'Name it from the top, as in docs/tasks/x.md.' } };
  }
  const tasks = input.tasks.map(({ task_id: id, prompt_file: file, ...task }) => ({
    id,
    ...task,
    ...(file === undefined ? {} : { promptFile: file }),
  }));
  const settled = await submitCommand(call, { kind: 'import-tasks', command: { source: input.source, tasks } });
  return answerFor(settled, (imported) => imported);
});
