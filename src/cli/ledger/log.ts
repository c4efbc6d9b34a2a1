import { EntryFilter } from '../../ledger/entry-filter.ts';
import { type Entry, parseEntry } from '../../ledger/format/entry.ts';
import type { Store, StoredEntry } from '../../ledger/store.ts';
import { taskIdOf } from '../../ledger/verify/task-proof.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { PROJECT_OPTION } from '../operation-command.ts';
import { printable } from '../text.ts';
import { withStore } from './with-store.ts';

const DEFAULT_COUNT = 50;
const MAX_SUMMARY_CHARACTERS = 120;

export const ledgerLogCommand: CliCommand = {
  examples: [
    'baton ledger log',
    'baton ledger log -f',
    'baton ledger log --task T042 --type CheckFinished,MergeFinished',
    'baton ledger log --limit 0 --json',
  ],
  args: [],
  options: [
    { name: 'follow', short: 'f', about: 'Keep printing new entries' },
    { name: 'limit', short: 'n', value: 'N', about: `At most N of the newest entries; 0 for all (${DEFAULT_COUNT})` },
    { name: 'task', value: 'ID', about: 'Only entries about this task, its agents, pipelines and decisions' },
    { name: 'type', value: 'TYPES', about: 'Only entries of these types, separated by commas' },
    { name: 'actor', value: 'ACTOR', about: 'Only entries of this actor, or of this kind: operator, session, system' },
    { name: 'json', about: 'Print one JSON entry per line' },
    PROJECT_OPTION,
  ],
  run(given, io) {
    const limit = Number(given.options.get('limit') ?? DEFAULT_COUNT);
    if (!Number.isSafeInteger(limit) || limit < 0) return { usage: '--limit must be a whole number from 0' };
    return withStore(given, io, async (store) => {
      const { size } = await store.head();
      const filter = filterIn(given);
      const log = { store, filter, show: given.options.has('json') ? renderJson : renderLine };
      // A filter learns from the beginning which agents and decisions belong to a task.
      const from = limit === 0 || filter !== undefined ? 1 : Math.max(1, size - limit + 1);
      let next = await (limit === 0 ? printFrom(log, from, io) : printLast(log, from, limit, io));
      if (!given.options.has('follow')) return EXIT.ok;
      for (;;) {
        await waitForCommit(store, next - 1);
        next = await printFrom(log, next, io);
      }
    });
  },
};

interface Log {
  readonly store: Store;
  readonly filter: EntryFilter | undefined;
  readonly show: (stored: StoredEntry) => string;
}

function filterIn({ options }: ParsedArguments): EntryFilter | undefined {
  const [task, types, actor] = [options.get('task'), options.get('type'), options.get('actor')];
  if (task === undefined && types === undefined && actor === undefined) return undefined;
  return new EntryFilter({
    ...(task === undefined ? {} : { task_id: task }),
    ...(types === undefined ? {} : { types: types.split(',').map((type) => type.trim()) }),
    ...(actor === undefined ? {} : { actor }),
  });
}

/** Prints the entries from `from` on, and returns the number of the next one. */
async function printFrom(log: Log, from: number, io: Io): Promise<number> {
  let next = from;
  for await (const { lines, last } of readLines(log, from)) {
    io.out(lines.join(''));
    next = last + 1;
  }
  return next;
}

/** The same for the newest `limit` of them. */
async function printLast(log: Log, from: number, limit: number, io: Io): Promise<number> {
  let next = from;
  let newest: readonly string[] = [];
  for await (const { lines, last } of readLines(log, from)) {
    newest = [...newest, ...lines].slice(-limit);
    next = last + 1;
  }
  io.out(newest.join(''));
  return next;
}

async function* readLines(
  { store, filter, show }: Log,
  from: number,
): AsyncGenerator<{ readonly lines: readonly string[]; readonly last: number }> {
  for await (const batch of store.entries({ from }))
    yield { lines: batch.filter((stored) => isWanted(filter, stored)).map(show), last: batch.at(-1)?.seq ?? from - 1 };
}

/** An entry that cannot be read is shown, whatever was asked for. */
function isWanted(filter: EntryFilter | undefined, { bytes }: StoredEntry): boolean {
  if (filter === undefined) return true;
  const entry = parseEntry(bytes);
  return !entry.ok || filter.accepts(entry.value, () => decoder.decode(bytes));
}

const decoder = new TextDecoder();

/** Waits until the ledger is longer than `size`. The watch starts before the check, so that no entry is missed. */
async function waitForCommit(store: Store, size: number): Promise<void> {
  // The watch alone does not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = store.watch(({ size: now }) => {
    if (now > size) resolve();
  });
  if ((await store.head()).size > size) resolve();
  await promise;
  stop();
  clearInterval(alive);
}

function renderJson({ bytes }: StoredEntry): string {
  return `${decoder.decode(bytes)}\n`;
}

function renderLine({ seq, bytes }: StoredEntry): string {
  const entry = parseEntry(bytes);
  if (!entry.ok) return `${String(seq).padStart(6)}  (${entry.problems[0].message})\n`;
  const { at, actor, type, data } = entry.value;
  const task = taskIdOf(data) ?? '-';
  return `${String(seq).padStart(6)}  ${at}  ${type}  ${printable(task)}  ${printable(actor)}  ${printable(summaryOf(data))}\n`;
}

function summaryOf(data: Entry['data']): string {
  const text = JSON.stringify(data);
  return text.length <= MAX_SUMMARY_CHARACTERS ? text : `${text.slice(0, MAX_SUMMARY_CHARACTERS - 1)}…`;
}
