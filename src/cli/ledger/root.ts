import { findLastSeal } from '../../ledger/writer/seal.ts';
import { problem } from '../../protocol/shape/problem.ts';
import { EXIT, type CliCommand } from '../command.ts';
import { JSON_OPTION, PROJECT_OPTION } from './find-ledger.ts';
import { reportProblem, withStore } from './with-store.ts';

export const ledgerRootCommand: CliCommand = {
  name: 'ledger root',
  summary: 'Show the last seal: its root, and how many entries it covers',
  examples: ['baton ledger root', 'baton ledger root --json'],
  args: [],
  options: [JSON_OPTION, PROJECT_OPTION],
  run(given, io) {
    return withStore(given, io, async (store) => {
      const last = await findLastSeal(store, (await store.head()).size);
      if (!last)
        return reportProblem(problem('ledger/no-seal', 'the ledger was never sealed', 'Run: baton ledger seal'), io);
      io.out(
        given.options.has('json')
          ? `${JSON.stringify(last)}\n`
          : `sealed: ${last.size} entries, by entry ${last.seq}\nroot: ${last.root}\n`,
      );
      return EXIT.ok;
    });
  },
};
