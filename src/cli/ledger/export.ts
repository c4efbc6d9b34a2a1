import { closeSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { exportLedger } from '../../ledger/export.ts';
import { EXIT, type Command } from '../command.ts';
import { PROJECT_OPTION } from './project-place.ts';
import { withStore } from './with-store.ts';

export const exportCommand: Command = {
  name: 'ledger export',
  summary: 'Print the whole record as NDJSON that others can check',
  examples: ['baton ledger export -o ledger.ndjson', 'baton ledger export | gzip > ledger.ndjson.gz'],
  args: [],
  options: [
    { name: 'output', short: 'o', value: 'FILE', about: 'Where to write it; without it, standard output' },
    PROJECT_OPTION,
  ],
  run(given, io) {
    return withStore(given, io, async (store) => {
      const file = given.options.get('output');
      const fd = file === undefined ? undefined : openSync(resolve(io.cwd, file), 'w');
      try {
        for await (const lines of exportLedger(store)) {
          if (fd === undefined) io.out(lines);
          else writeSync(fd, lines);
        }
      } finally {
        if (fd !== undefined) closeSync(fd);
      }
      return EXIT.ok;
    });
  },
};
