import fc from 'fast-check';
import type { ExchangedTask, ExchangeFormat, TaskStatus } from './task.ts';

/** The statuses that every format can represent. */
export const STATUSES = ['todo', 'in_progress', 'blocked', 'done'] as const;

/** A line of text as in a title: each run of whitespace is one space. */
const line = fc
  .oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), fc.constantFrom(...awkward()))
  .map((text) => text.toWellFormed().replace(/\s+/gu, ' ').trim())
  .filter((text) => text !== '');

/** Texts that a parser could mistake for other syntax. */
function awkward(): string[] {
  return [
    'T1: not an id',
    'x (after: y)',
    '(priority: 3)',
    '[ ] a box',
    '- [ ] an item',
    '**P0** bold',
    '`code` first',
    'ends with )',
    '# heading',
    '(id: z)',
    '\\- [x] escaped',
    '"quoted"',
    '{"id":1}',
  ];
}

const description = fc.oneof(
  fc.constant(''),
  fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n')),
  fc.constantFrom(
    '- [ ] a box\n- [x] another',
    '```\n- [ ] code that never ends',
    'a\n\n    indented\n',
    '\\- [ ] one',
  ),
);

/** Tasks without a cycle: each depends only on tasks before it. */
export function tasksWith(
  ids: fc.Arbitrary<string>,
  statuses: readonly TaskStatus[],
): fc.Arbitrary<readonly ExchangedTask[]> {
  const one = fc.record({
    id: ids,
    title: line,
    description,
    status: fc.constantFrom(...statuses),
    priority: fc.constantFrom(-10, 0, 10, 20),
    picks: fc.array(fc.nat(30), { maxLength: 4 }),
  });
  return fc.uniqueArray(one, { selector: ({ id }) => id, minLength: 1, maxLength: 12 }).map((drafts) =>
    drafts.map(({ picks, ...draft }, i) => ({
      ...draft,
      reason: reasonFor(draft.status),
      after: [...new Set(picks.filter((pick) => pick < i).map((pick) => drafts[pick]?.id ?? ''))],
    })),
  );
}

/** Only blocked and cancelled tasks have a reason. */
export function reasonFor(status: TaskStatus): string | null {
  return status === 'blocked' || status === 'cancelled' ? 'somebody must decide' : null;
}

export const BATON_IDS = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/),
  fc.stringMatching(/^[1-9]\.[1-9]$/),
  fc.stringMatching(/^[1-9]$/),
  fc.constantFrom('x--', 'x--5', 'x--a_20_b', 'x--x--5'),
);

/** Ids, titles, status and dependencies, in a fixed order. */
export function essence(tasks: readonly ExchangedTask[]): unknown {
  const rows = tasks.map(({ id, title, status, after }) => ({ id, title, status, after: after.toSorted() }));
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const AT = '2026-01-01T00:00:00.000Z';

/** Renders the tasks, reads them back, and renders them again into the same text. */
export function roundTrip(format: ExchangeFormat, tasks: readonly ExchangedTask[]) {
  const first = format.render(tasks, { at: AT });
  const text = first.ok ? first.value.text : first.problems[0].message;
  const again = format.render(tasks, { at: AT, existing: text });
  const read = readTasks(format, text);
  return { tasks: essence(read), isOrdered: isOrdered(read), isStill: again.ok && again.value.text === text };
}

/** Writes `later` into a file that has `tasks`, and returns the tasks that are read back. */
export function updated(
  format: ExchangeFormat,
  tasks: readonly ExchangedTask[],
  later: readonly ExchangedTask[],
): unknown {
  const first = format.render(tasks, { at: AT });
  const second = first.ok ? format.render(later, { at: AT, existing: first.value.text }) : first;
  return essence(readTasks(format, second.ok ? second.value.text : second.problems[0].message));
}

function readTasks(format: ExchangeFormat, text: string): readonly ExchangedTask[] {
  const read = format.read(text);
  if (!read.ok) throw new Error(`${read.problems[0].message}\n${text}`);
  return read.value.tasks;
}

function isOrdered(tasks: readonly ExchangedTask[]): boolean {
  const seen = new Set<string>();
  return tasks.every(({ id, after }) => seen.add(id) && after.every((before) => seen.has(before)));
}
