import { parseEntry } from '../../ledger/format/entry.ts';
import type { Store, StoredEntry } from '../../ledger/store.ts';
import { type CliCommand, EXIT, type Io } from '../command.ts';
import { entryShape } from '../json-output.ts';
import { PROJECT_OPTION, wholeOption } from '../operation-command.ts';
import { printLong } from '../pager.ts';
import { columnsOf } from '../status/paint.ts';
import { printable } from '../text.ts';
import { LogFilter, parseLogQuery } from './log-query.ts';
import { LOG_HEADER, renderLogLine } from './render-log.ts';
import { withStore } from './with-store.ts';

const DEFAULT_COUNT = 50;

export const ledgerLogCommand: CliCommand = {
  examples: [
    'baton ledger log',
    'baton ledger log -f',
    'baton ledger log --task T042 --type CheckFinished,MergeFinished',
    'baton ledger log --since 2h',
    'baton ledger log --limit 0 --json',
  ],
  args: [],
  options: [
    { name: 'follow', short: 'f', about: 'Keep printing new entries' },
    { name: 'limit', short: 'n', value: 'N', about: `At most N of the newest entries; 0 for all (${DEFAULT_COUNT})` },
    { name: 'task', value: 'ID', about: 'Only entries about this task, its agents, pipelines and decisions' },
    { name: 'type', value: 'TYPES', about: 'Only entries of these types, separated by commas' },
    { name: 'actor', value: 'ACTOR', about: 'Only entries of this actor, or of this kind: operator, session, system' },
    { name: 'since', value: 'TIME', about: 'Only entries since this time: 90m, 2h, 3d ago, or 2026-11-18T09:30Z' },
    { name: 'json', about: 'Print one JSON entry per line' },
    PROJECT_OPTION,
  ],
  json: [{ lines: true, shape: entryShape }],
  exitCodes: { 0: 'shown', 1: 'there is no ledger', 4: 'what is stored is not what was recorded' },
  async run(given, io) {
    const asked = wholeOption(given, 'limit', { from: 0 });
    if ('usage' in asked) return asked;
    const limit = asked.value ?? DEFAULT_COUNT;
    const entryTypes = given.options.has('type') ? await readEntryTypes() : [];
    const query = parseLogQuery(given, { nowMs: Date.now(), entryTypes });
    if ('usage' in query) return query;
    return withStore(given, io, async (store) => {
      const { size } = await store.head();
      const filter = query.isAll ? undefined : new LogFilter(query);
      const isJson = given.options.has('json');
      const columns = columnsOf(io);
      const log = {
        store,
        filter,
        show: isJson ? renderJson : (stored: StoredEntry) => renderLogLine(stored, columns),
      };
      // A filter learns from the beginning which agents and decisions belong to a task.
      const from = limit === 0 || filter !== undefined ? 1 : Math.max(1, size - limit + 1);
      const header = isJson || size === 0 ? '' : LOG_HEADER;
      // A pager waits for the end of the text, which a followed log does not have.
      const isFollowed = given.options.has('follow');
      const page = isFollowed ? { ...io, pager: false } : io;
      if (limit === 0) io.out(header);
      const shown = await (limit === 0
        ? printFrom(log, from, io)
        : printLast(log, { from, limit, header, isFollowed }, page));
      let { next } = shown;
      if (!isFollowed) {
        if (filter !== undefined && shown.count === 0) io.err(`${printable(filter.describeNone())}\n`);
        return EXIT.ok;
      }
      for (;;) {
        await waitForCommit(store, next - 1);
        ({ next } = await printFrom(log, next, io));
      }
    });
  },
};

/** Loaded only when needed, because it imports the whole state. */
async function readEntryTypes(): Promise<readonly string[]> {
  return (await import('../../daemon/loop/fold-state.ts')).ENTRY_TYPES;
}

interface Log {
  readonly store: Store;
  readonly filter: LogFilter | undefined;
  readonly show: (stored: StoredEntry) => string;
}

interface Shown {
  /** The number of the entry after the last one read. */
  readonly next: number;
  /** How many entries were printed. */
  readonly count: number;
}

async function printFrom(log: Log, from: number, io: Io): Promise<Shown> {
  let [next, count] = [from, 0];
  for await (const { lines, last } of readLines(log, from)) {
    io.out(lines.join(''));
    count += lines.length;
    next = last + 1;
  }
  return { next, count };
}

interface LastOptions {
  readonly from: number;
  readonly limit: number;
  readonly header: string;
  readonly isFollowed: boolean;
}

/** Prints the newest `limit` entries; no headings above nothing, unless entries may follow. */
async function printLast(log: Log, { from, limit, header, isFollowed }: LastOptions, io: Io): Promise<Shown> {
  let next = from;
  let newest: readonly string[] = [];
  for await (const { lines, last } of readLines(log, from)) {
    newest = [...newest, ...lines].slice(-limit);
    next = last + 1;
  }
  if (newest.length > 0 || isFollowed) printLong(`${header}${newest.join('')}`, io);
  return { next, count: newest.length };
}

async function* readLines(
  { store, filter, show }: Log,
  from: number,
): AsyncGenerator<{ readonly lines: readonly string[]; readonly last: number }> {
  for await (const batch of store.entries({ from }))
    yield { lines: batch.filter((stored) => isWanted(filter, stored)).map(show), last: batch.at(-1)?.seq ?? from - 1 };
}

/** An unreadable entry is shown, whatever the query. */
function isWanted(filter: LogFilter | undefined, { bytes }: StoredEntry): boolean {
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
