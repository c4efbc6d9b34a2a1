import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { nodeVerifier } from '../../ledger/writer/node-crypto.ts';
import { makeTaskProof } from '../../ledger/verify/task-proof.ts';
import { verifyTaskProof } from '../../ledger/verify/verify-task-proof.ts';
import { EXIT, type CliCommand } from '../command.ts';
import { printable } from '../text.ts';
import { PROJECT_OPTION } from './find-ledger.ts';
import { reportProblem, withStore } from './with-store.ts';

export const ledgerProveCommand: CliCommand = {
  name: 'ledger prove',
  summary: 'Write a proof of one task that anybody can check',
  examples: ['baton ledger prove T001 -o T001.proof.json', 'baton verify T001.proof.json'],
  args: [{ name: 'TASK', about: 'The id of the task' }],
  options: [
    { name: 'output', short: 'o', value: 'FILE', about: 'Where to write it; without it, standard output' },
    PROJECT_OPTION,
  ],
  run(given, io) {
    return withStore(given, io, async (store, { project }) => {
      const [task = ''] = given.args;
      const proof = await makeTaskProof(store, nodeVerifier, project, task);
      if (!proof.ok) return reportProblem(proof.problems[0], io);
      // Nobody should carry away a proof that does not hold.
      const holds = await verifyTaskProof(nodeVerifier, proof.value);
      if (!holds.ok) return reportProblem(holds.problems[0], io, EXIT.notVerified);
      const text = `${JSON.stringify(proof.value, null, 2)}\n`;
      const file = given.options.get('output');
      if (file === undefined) {
        io.out(text);
        return EXIT.ok;
      }
      writeFileSync(resolve(io.cwd, file), text);
      io.out(`${printable(file)}: ${proof.value.entries.length} entries about ${printable(task)}\n`);
      return EXIT.ok;
    });
  },
};
