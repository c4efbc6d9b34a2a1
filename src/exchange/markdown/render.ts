import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import { ImportFindings } from '../findings.ts';
import { type ExchangedTask, type ExportedText, type ExportOptions, isSameSet, readExisting } from '../task.ts';
import { BOXES, boxOf, ITEM_PATTERN, scanLines } from './items.ts';
import { findNamedItems, type NamedItem, parseMarkdown, renderItemHead } from './read.ts';

/** Writes a flat list with checkboxes. In an existing list, checkboxes change in place and new items come last. */
export function renderMarkdown(
  tasks: readonly ExchangedTask[],
  { existing = '' }: ExportOptions,
): Parsed<ExportedText> {
  if (existing.trim() === '') return accepted({ text: tasks.map(renderTask).join(''), notices: [] });
  const known = new Set(tasks.map(({ id }) => id));
  const read = readExisting(parseMarkdown(existing, { known }));
  if (!read.ok) return read;
  const before = read.value;
  const text = existing.startsWith('\ufeff') ? existing.slice(1) : existing;
  const items = new Map(findNamedItems(text, new ImportFindings(text)).map((item) => [item.item.line, item]));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  // If one item had a checkbox, items without one would no longer be tasks, so all get one.
  const isBoxed = [...items.values()].some(({ item }) => item.box !== undefined);
  const ending = /\r\n|\r|\n/.exec(text)?.[0] ?? '\n';
  const lines = [...scanLines(text)].map(({ line, number }) => {
    const item = items.get(number);
    const task = item === undefined ? undefined : byId.get(item.id);
    if (item === undefined) return line;
    if (task === undefined) return isBoxed ? line : line.replace(ITEM_PATTERN, '$1$2 [ ] $4');
    return renderLine(line, { item, isBoxed }, task, before.get(item.id));
  });
  const added = tasks.filter(({ id }) => !before.has(id)).map(renderTask);
  const whole = lines.join(ending);
  const gap = added.length === 0 || whole.endsWith(ending) ? '' : ending;
  return accepted({ text: whole + gap + added.join('').replaceAll('\n', ending), notices: [] });
}

function renderTask(task: ExchangedTask): string {
  const body = task.description === '' ? [] : task.description.split(/\r\n|\r|\n/).map(renderBodyLine);
  return [`- [${boxOf(task.status)}] ${renderItemHead(task)}`, ...body].map((line) => `${line}\n`).join('');
}

function renderBodyLine(line: string): string {
  if (line.trim() === '') return '';
  return `  ${line.replace(/^([ \t]*)(?=\\*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX/~!-]\](?:[ \t]|$))/, '$1\\')}`;
}

function renderLine(
  line: string,
  { item: { item }, isBoxed }: { readonly item: NamedItem; readonly isBoxed: boolean },
  task: ExchangedTask,
  before: ExchangedTask | undefined,
): string {
  const [, indent = '', mark = '-', , text = ''] = ITEM_PATTERN.exec(line) ?? [];
  const isSame =
    before !== undefined &&
    before.title === task.title &&
    before.priority === task.priority &&
    isSameSet(before.after, task.after) &&
    (task.reason === null || (before.status === task.status && before.reason === task.reason));
  const meant = item.box === undefined ? 'todo' : BOXES.get(item.box);
  if (isSame && isBoxed && meant === task.status) return line;
  const box = meant === task.status ? (item.box ?? ' ') : boxOf(task.status);
  return `${indent}${mark} [${box}] ${isSame ? text : renderItemHead(task)}`;
}
