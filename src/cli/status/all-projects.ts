import type { Answer } from '../../api/answer.ts';
import type { ListedProjectView } from '../../api/operations/project.ts';
import type { StatusView } from '../../api/run-views.ts';
import { callOperation, readStatus } from '../ask.ts';
import { EXIT, type Io, type ParsedArguments } from '../command.ts';
import { reportError } from '../operation-command.ts';
import { colored, type Look, lookOf } from './paint.ts';
import { printable } from '../text.ts';
import { describeFault, renderStatus, type ShownStatus } from './render-status.ts';

interface ProjectStatus {
  readonly project: Pick<ListedProjectView, 'name' | 'path'>;
  readonly answer: Answer<ShownStatus & Pick<StatusView, 'at'>>;
}

/**
 * Shows the status of every repository of the state folder. An unreadable one is shown with the reason, and the exit
 * code is then 1.
 */
export async function showAllStatuses(given: ParsedArguments, io: Io): Promise<number> {
  const listed = await callOperation('projects_list', {}, given, io);
  if (!listed.ok) return reportError(listed.error, given, io);
  const statuses = await Promise.all(
    listed.result.projects.map(async (project) => {
      const there = { args: [], options: new Map([...given.options, ['project', project.path]]) };
      return { project, answer: await readStatus(there, io) };
    }),
  );
  io.out(given.options.has('json') ? `${JSON.stringify(toJson(statuses))}\n` : renderAllStatuses(statuses, lookOf(io)));
  return statuses.every(({ answer }) => answer.ok) ? EXIT.ok : EXIT.failed;
}

function toJson(statuses: readonly ProjectStatus[]): object {
  const projects = statuses.map(({ project: { name, path }, answer }) =>
    answer.ok ? { name, path, status: answer.result } : { name, path, error: answer.error },
  );
  return { projects };
}

export function renderAllStatuses(statuses: readonly ProjectStatus[], { columns, colors }: Look): string {
  if (statuses.length === 0) return 'No projects.\n';
  const sections = statuses.map(({ project: { name, path }, answer }) => {
    const heading = `${printable(name)}  ${printable(path)}`;
    const lines = answer.ok
      ? renderStatus(answer.result, { columns: columns - 2, now: new Date(answer.result.at), colors })
      : [printable(describeFault(answer.error))];
    return [colors ? colored(heading, 'bold') : heading, ...lines.map((line) => (line === '' ? '' : `  ${line}`))];
  });
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
