import type { Notice, TaskStatus } from '../../exchange/task.ts';
import { printable } from '../text.ts';

export interface ImportReport {
  readonly format: string;
  readonly source: string;
  readonly dry_run: boolean;
  readonly added: readonly {
    readonly id: string;
    readonly title: string;
    readonly status: TaskStatus;
    readonly after: readonly string[];
  }[];
  /** What is there already, and stays as it is. */
  readonly existing: readonly { readonly id: string; readonly title: string; readonly is_different: boolean }[];
  readonly notices: readonly Notice[];
}

export function renderImport({ source, dry_run: isDry, added, existing, notices }: ImportReport): string {
  const done = `${isDry ? 'Would import' : 'Imported'} ${counted(added.length)} from ${source}`;
  const rows = isDry ? added.map(renderRow) : [];
  const changed = existing.filter((each) => each.is_different);
  const lines = [
    `${done}${statuses(added)}.`,
    ...rows,
    ...(existing.length === 0 ? [] : [`Left as they are, since they are there already: ${renderNames(existing)}.`]),
    ...(changed.length === 0 ? [] : [`Their titles differ from those here: ${renderNames(changed)}.`]),
    ...notices.slice(0, SHOWN).map(({ message, line }) => `  note: ${line === null ? '' : `line ${line}: `}${message}`),
    ...(notices.length > SHOWN ? [`  note: and ${notices.length - SHOWN} more; see them with --json`] : []),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

const SHOWN = 20;

function counted(count: number): string {
  return `${count} ${count === 1 ? 'task' : 'tasks'}`;
}

function statuses(added: ImportReport['added']): string {
  const counts = (['done', 'in_progress', 'blocked', 'cancelled', 'todo'] as const).flatMap((status) => {
    const count = added.filter((task) => task.status === status).length;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  return counts.length === 0 ? '' : `: ${counts.join(', ')}`;
}

function renderNames(tasks: readonly { readonly id: string }[]): string {
  const ids = tasks.slice(0, SHOWN).map(({ id }) => id);
  return tasks.length > SHOWN ? `${ids.join(', ')} and ${tasks.length - SHOWN} more` : ids.join(', ');
}

function renderRow({ id, title, status, after }: ImportReport['added'][number]): string {
  return `  ${id}  ${status}  ${title}${after.length === 0 ? '' : `  (after ${after.join(', ')})`}`;
}
