import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { toHex } from '../../src/ledger/format/bytes.ts';
import { openSqliteStore } from '../../src/ledger/sqlite/open.ts';
import { OutsideCopyFile } from '../../src/ledger/writer/ledger-files.ts';
import { testDraft, testOptions } from '../../src/ledger/writer/ledger.cases.ts';
import { openLedger } from '../../src/ledger/writer/open.ts';

/**
 * A process that records as fast as possible, with several concurrent callers, and prints each acknowledgement as a
 * line `seq hash` before doing anything else. It runs until it is killed.
 */
const [path = '', callers = '8'] = process.argv.slice(2);
const opened = openSqliteStore(path, { mode: 'write', idleMs: 5 });
if (!opened.ok) throw new Error(opened.problem.message);
const outside = new OutsideCopyFile(`${path}.checkpoint`);
const ledger = await openLedger(testOptions({ store: opened.store, outside, clock: () => new Date() }));
if (!ledger.ok) throw new Error(ledger.problem.message);

/** Not the process id: on a busy machine, a thousand writers get some ids twice. */
const writer = randomUUID();

await Promise.all(
  Array.from({ length: Number(callers) }, async (_, caller) => {
    for (let i = 0; ; i += 1) {
      const drafts = Array.from({ length: 1 + ((caller + i) % 3) }, (_unused, j) => {
        const draft = testDraft(i + j, `T00${caller}`);
        return { ...draft, data: { ...draft.data, mark: `${writer}.${caller}.${i}.${j}` } };
      });
      const recorded = await ledger.ledger.append(drafts);
      if (!recorded.ok) throw new Error(JSON.stringify(recorded));
      const lines = recorded.entries.map(({ stored }) => `${stored.seq} ${toHex(stored.hash)}\n`);
      writeSync(1, lines.join(''));
    }
  }),
);
