import { type Entry, parseEntry } from '../../ledger/format/entry.ts';
import type { StoredEntry } from '../../ledger/store.ts';
import { taskIdOf } from '../../ledger/verify/task-proof.ts';
import { fitTo, padTo } from '../table.ts';
import { printable } from '../text.ts';

/** Fixed widths, because the log is printed while it is read. A longer cell shifts the rest of its line. */
const WIDTHS = [6, 24, 22, 10, 16] as const;

export const LOG_HEADER = renderColumns('SEQ', ['TIME', 'TYPE', 'TASK', 'ACTOR', 'DATA']);

/** Cut to `columns`: without them, as much of the data is shown as people read. */
export function renderLogLine({ seq, bytes }: StoredEntry, columns = Infinity): string {
  const entry = parseEntry(bytes);
  if (!entry.ok) return renderColumns(String(seq), [`(${entry.problems[0].message})`], columns);
  const { at, actor, type, data } = entry.value;
  const cells = [at, type, taskIdOf(data) ?? '-', actor, summaryOf(data)].map(printable);
  return renderColumns(String(seq), cells, columns);
}

function renderColumns(seq: string, cells: readonly string[], columns = Infinity): string {
  const padded = cells.map((cell, i) => padTo(cell, WIDTHS[i + 1] ?? 0));
  return `${fitTo([seq.padStart(WIDTHS[0]), ...padded].join('  ').trimEnd(), columns)}\n`;
}

function summaryOf(data: Entry['data']): string {
  const text = JSON.stringify(data);
  return text.length <= MAX_SUMMARY_CHARACTERS ? text : `${text.slice(0, MAX_SUMMARY_CHARACTERS - 1)}…`;
}

const MAX_SUMMARY_CHARACTERS = 120;
