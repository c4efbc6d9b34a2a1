import { parseEntry, type Entry } from '../../ledger/format/entry.ts';
import type { Store, StoredEntry } from '../../ledger/store.ts';
import { taskIdOf } from '../../ledger/verify/task-proof.ts';
import { problem } from '../../protocol/shape/problem.ts';
import { EXIT, type CliCommand, type Io } from '../command.ts';
import { printable } from '../text.ts';
import { PROJECT_OPTION } from './find-ledger.ts';
import { reportProblem, withStore } from './with-store.ts';

const DEFAULT_COUNT = 50;
const MAX_SUMMARY_CHARACTERS = 120;

export const ledgerLogCommand: CliCommand = {
  name: 'ledger log',
  summary: 'Show the ledger',
  examples: ['baton ledger log', 'baton ledger log -f', 'baton ledger log --limit 0 --json'],
  args: [],
  options: [
    { name: 'follow', short: 'f', about: 'Go on with what is recorded from now on' },
    {
      name: 'limit',
      short: 'n',
      value: 'N',
      about: `How many of the newest entries; 0 is all (default ${DEFAULT_COUNT})`,
    },
    { name: 'json', about: 'Print one entry a line, as JSON' },
    PROJECT_OPTION,
  ],
  run(given, io) {
    const limit = Number(given.options.get('limit') ?? DEFAULT_COUNT);
    if (!Number.isSafeInteger(limit) || limit < 0) {
      const hint = 'For example: baton ledger log --limit 10';
      return reportProblem(problem('ledger/bad-number', '--limit is not a number from 0', hint), io, EXIT.usage);
    }
    return withStore(given, io, async (store) => {
      const { size } = await store.head();
      const from = limit === 0 ? 1 : Math.max(1, size - limit + 1);
      const show = given.options.has('json') ? renderJson : renderLine;
      let next = await printFrom(store, from, io, show);
      if (!given.options.has('follow')) return EXIT.ok;
      for (;;) {
        await waitForCommit(store, next - 1);
        next = await printFrom(store, next, io, show);
      }
    });
  },
};

/** Prints what there is, and returns the number of the entry that is still to come. */
async function printFrom(store: Store, from: number, io: Io, show: (stored: StoredEntry) => string): Promise<number> {
  let next = from;
  for await (const batch of store.entries({ from })) {
    io.out(batch.map(show).join(''));
    next = (batch.at(-1)?.seq ?? next - 1) + 1;
  }
  return next;
}

/** Waits until the ledger is longer than this. The watch starts before the look, so that nothing falls between them. */
async function waitForCommit(store: Store, size: number): Promise<void> {
  // Watching alone does not keep a process alive.
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
  return `${new TextDecoder().decode(bytes)}\n`;
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
