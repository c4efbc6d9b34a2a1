import { parseEntry } from '../../ledger/format/entry.ts';
import { sameBytes, toHex } from '../../ledger/format/bytes.ts';
import { leafHash } from '../../ledger/format/merkle.ts';
import { nodeSha256 } from '../../ledger/writer/node-crypto.ts';
import { problem } from '../../protocol/shape/problem.ts';
import { EXIT, type CliCommand } from '../command.ts';
import { printable } from '../text.ts';
import { JSON_OPTION, PROJECT_OPTION } from './find-ledger.ts';
import { reportProblem, withStore } from './with-store.ts';

export const ledgerShowCommand: CliCommand = {
  name: 'ledger show',
  summary: 'Show one entry in full',
  examples: ['baton ledger show 42', 'baton ledger show 42 --json'],
  args: [{ name: 'SEQ', about: 'The number of the entry' }],
  options: [JSON_OPTION, PROJECT_OPTION],
  exitCodes: { 0: 'shown', 1: 'there is no such entry', 4: 'the entry is not what was recorded' },
  run(given, io) {
    const [text = ''] = given.args;
    const seq = Number(text);
    if (!/^[1-9][0-9]{0,15}$/.test(text)) {
      const hint = 'Numbers start at 1; `baton ledger log` shows them.';
      return reportProblem(
        problem('ledger/bad-number', `'${text}' is not the number of an entry`, hint),
        io,
        EXIT.usage,
      );
    }
    return withStore(given, io, async (store) => {
      for await (const [stored] of store.entries({ from: seq, to: seq })) {
        if (!stored) continue;
        const entry = parseEntry(stored.bytes);
        if (!entry.ok || !sameBytes(leafHash(nodeSha256, stored.bytes), stored.hash)) {
          const hint = 'Run: baton ledger verify';
          const message = `entry ${seq} is not what was recorded`;
          return reportProblem(problem('ledger/wrong-hash', message, hint), io, EXIT.notVerified);
        }
        const shown = { entry: entry.value, hash: toHex(stored.hash) };
        const pretty = JSON.stringify(shown, null, 2).split('\n').map(printable).join('\n');
        io.out(given.options.has('json') ? `${JSON.stringify(shown)}\n` : `${pretty}\n`);
        return EXIT.ok;
      }
      const { size } = await store.head();
      const hint = `The newest one is ${size}.`;
      return reportProblem(problem('ledger/no-entry', `there is no entry ${seq}`, hint), io);
    });
  },
};
