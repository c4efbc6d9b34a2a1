import type { Parsed } from '../../protocol/shape/problem.ts';
import { startReading } from '../begin.ts';
import type { ImportOptions } from '../format.ts';
import type { ImportFindings, FoundTask } from '../findings.ts';
import { resolveTasks } from '../resolve-tasks.ts';
import type { ImportedTasks } from '../task.ts';
import { BOXES } from './boxes.ts';
import { parseItemHead, type ItemHead } from './head.ts';
import { findItems, findOddBoxes, type ListItem } from './items.ts';
import { idOfTitle } from './slug.ts';

/** A list in Markdown: items with boxes, nested ones being parts. See docs/import.md. */
export function parseMarkdown(text: string, options: ImportOptions = {}): Parsed<ImportedTasks> {
  const findings = startReading(text);
  if ('ok' in findings) return findings;
  const found = findNamedItems(findings.text, findings);
  for (const { box, at } of findOddBoxes(findings.text))
    findings.notice(`the box [${box}] is not known: the item is not taken as a task`, at);
  return resolveTasks(
    found.map((each) => foundTask(each)),
    findings,
    options,
  );
}

/** An item with the id that it has, or gets. */
export interface NamedItem {
  readonly item: ListItem;
  readonly head: ItemHead;
  readonly id: string;
  readonly parent: string | undefined;
}

/** The items of a text that was read before, and found good, by their ids. */
export function findNamedItems(text: string, findings: ImportFindings): readonly NamedItem[] {
  const items = findItems(text).map((item) => ({ item, head: parseItemHead(item.text) }));
  const taken = new Set(items.flatMap(({ head }) => head.id ?? []));
  const ids = new Map<ListItem, string>();
  const next = new Map<string, number>();
  return items.map(({ item, head }) => {
    const id = head.id ?? freeSlug(head.title, taken, next);
    if (head.id === undefined && id !== idOfTitle(head.title)) {
      findings.notice(`another item has the same title: this one gets the id ${id}`, item.at);
    }
    ids.set(item, id);
    return { item, head, id, parent: item.parent === undefined ? undefined : ids.get(item.parent) };
  });
}

function freeSlug(title: string, taken: Set<string>, next: Map<string, number>): string {
  const slug = idOfTitle(title);
  let id = slug;
  // Where it went on last time: a thousand items of one title are not counted a thousand times.
  for (let i = next.get(slug) ?? 2; taken.has(id); i++) {
    id = `${slug}-${i}`;
    next.set(slug, i + 1);
  }
  taken.add(id);
  return id;
}

function foundTask({ item, head, id, parent }: NamedItem): FoundTask {
  const status = BOXES.get(item.box ?? ' ') ?? 'todo';
  return {
    id,
    taskId: id,
    title: head.title,
    description: descriptionOf(item),
    status,
    reason: head.reason ?? `${status} in the list`,
    priority: head.priority,
    after: head.after.map((before) => ({ id: before, at: item.at })),
    ...(parent === undefined ? {} : { parent }),
    at: item.at,
  };
}

/** A box in a description is escaped, or it would be a task: see `renderMarkdown`. */
function descriptionOf({ body }: ListItem): string {
  const lines = body.map((line) =>
    line.replace(/^([ \t]*)\\(?=\\*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX/~!-]\](?:[ \t]|$))/, '$1'),
  );
  const first = lines.findIndex((line) => line.trim() !== '');
  return first < 0 ? '' : lines.slice(first).join('\n').trimEnd();
}
