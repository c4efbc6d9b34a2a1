import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ResultOf } from '../../api/operations/registry.ts';
import { belowSessionError, findSessionAbove } from '../../api/session-above.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { parseEntry } from '../../ledger/format/entry.ts';
import type { Store } from '../../ledger/store.ts';
import { renderTaskProof, type TaskProof } from '../../ledger/verify/proof-text.ts';
import { makeTaskProof, taskIdOf, verifyTaskProof } from '../../ledger/verify/task-proof.ts';
import { findPosition } from '../../ledger/verify/walk.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import { openLedgerAt, openStoreAt } from '../../ledger/writer/open.ts';
import { findLastSeal, sealLedger } from '../../ledger/writer/seal.ts';
import { didYouMean, type Parsed, type Problem, problem, refused } from '../../protocol/shape/problem.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { printable } from '../text.ts';
import { findLedger } from './find-ledger.ts';
import { describeCompleteness } from './verify-file.ts';
import { exitCodeOf, withStore } from './with-store.ts';

export const ledgerSealCommand: CliCommand = {
  examples: ['baton ledger seal', 'baton ledger seal --json'],
  args: [],
  options: [JSON_OPTION, PROJECT_OPTION],
  json: [{ result: 'merkle_finalize' }],
  exitCodes: { 0: 'sealed', 1: 'there is nothing to seal', 4: 'what is stored is not what was recorded' },
  async run(given, io) {
    const found = await findLedger(given, io);
    if (!found.ok) return reportProblem(found.problem, io);
    // Without a daemon this command signs with the machine's key, so an agent must not run it.
    const above = findSessionAbove(findStateDir(io.env), io.env);
    if (above !== undefined) return reportProblem(belowSessionError(above), io);
    // Opening would create a ledger, and a ledger must not start with a seal.
    if (!existsSync(found.place.ledger)) {
      const missing = await openStoreAt(found.place);
      if (!missing.ok) return reportProblem(missing.problem, io, exitCodeOf(missing.problem));
    }
    const opened = await openLedgerAt(found.place, { clock: () => new Date() });
    if (!opened.ok && opened.problem.code === 'ledger/taken') return sealThroughDaemon(given, io);
    if (!opened.ok) return reportProblem(opened.problem, io, exitCodeOf(opened.problem));
    const sealed = await sealLedger(opened.ledger, `operator:${operatorName(io)}`);
    await opened.ledger.close();
    if (!sealed.ok) return reportProblem(sealed.problem, io, exitCodeOf(sealed.problem));
    return reportSeal({ ...sealed.seal, is_new: sealed.isNew }, given, io);
  },
};

/** While the daemon runs, only the daemon may write. */
async function sealThroughDaemon(given: ParsedArguments, io: Io): Promise<number> {
  const { callOperation } = await import('../ask.ts');
  const answer = await callOperation('merkle_finalize', {}, given, io);
  return answer.ok ? reportSeal(answer.result, given, io) : reportProblem(answer.error, io, exitCodeOf(answer.error));
}

function reportSeal(seal: ResultOf<'merkle_finalize'>, given: ParsedArguments, io: Io): number {
  const { is_new, size, seq, root } = seal;
  if (given.options.has('json')) io.out(`${JSON.stringify(seal)}\n`);
  else io.out(`${is_new ? 'sealed' : 'already sealed'}: ${size} entries, recorded as entry ${seq}\nroot: ${root}\n`);
  return EXIT.ok;
}

export function operatorName({ env }: Io): string {
  const name = (env.USER ?? env.LOGNAME ?? '').replaceAll(/[^A-Za-z0-9._@-]+/g, '-');
  return name === '' ? 'unknown' : name.slice(0, 64);
}

const NEVER_SEALED = {
  code: 'ledger/never-sealed',
  message: 'the ledger was never sealed',
  hint: 'Run: baton ledger seal',
} as const;

export const ledgerRootCommand: CliCommand = {
  examples: ['baton ledger root', 'baton ledger root --json'],
  args: [],
  options: [JSON_OPTION, PROJECT_OPTION],
  json: [{ result: 'merkle_root' }],
  exitCodes: { 0: 'shown', 1: 'the ledger was never sealed', 4: 'what is stored is not what was recorded' },
  run(given, io) {
    return withStore(given, io, async (store) => {
      const last = await findLastSeal(store, (await store.head()).size);
      if (!last) return reportProblem(NEVER_SEALED, io);
      const text = `sealed: ${last.size} entries, recorded as entry ${last.seq}\nroot: ${last.root}`;
      io.out(`${given.options.has('json') ? JSON.stringify(last) : text}\n`);
      return EXIT.ok;
    });
  },
};

export const ledgerProveCommand: CliCommand = {
  examples: ['baton ledger prove T001 -o T001.proof.json', 'baton verify T001.proof.json'],
  args: [{ name: 'TASK', about: 'The id of the task' }],
  options: [
    { name: 'output', short: 'o', value: 'FILE', about: 'Write to this file instead of standard output' },
    PROJECT_OPTION,
  ],
  exitCodes: { 0: 'written', 1: 'there is no proof', 4: 'what is stored is not what was recorded' },
  run(given, io) {
    return withStore(given, io, async (store, { project }) => {
      const [task = ''] = given.args;
      const proof = await readProof(store, project, task, given, io);
      if (!proof.ok) return reportProblem(await suggestTask(proof.problems[0], task, store), io);
      const text = renderTaskProof(proof.value);
      // A proof that does not verify is not written.
      const holds = await verifyTaskProof(nodeVerifier, text);
      if (!holds.ok) return reportProblem(holds.problems[0], io, EXIT.notVerified);
      const file = given.options.get('output');
      if (file === undefined) {
        io.out(text);
        return EXIT.ok;
      }
      writeFileSync(resolve(io.cwd, file), text);
      io.out(
        `${printable(file)}: ${proof.value.entries.length} entries about ${printable(task)}${describeCompleteness(holds.value)}\n`,
      );
      return EXIT.ok;
    });
  },
};

/** In a ledger of version 2 the daemon records the count of the entries, with which the proof ends. */
async function readProof(
  store: Store,
  project: string,
  task: string,
  given: ParsedArguments,
  io: Io,
): Promise<Parsed<TaskProof>> {
  const isNumbered = (await findPosition(store, nodeVerifier.sha256, (await store.head()).size))?.isNumbered;
  if (isNumbered !== true) return makeTaskProof(store, nodeVerifier, project, task);
  const { callOperation } = await import('../ask.ts');
  const answer = await callOperation('task_proof', { task_id: task }, given, io);
  if (!answer.ok) return refused(problem(answer.error.code, answer.error.message, answer.error.hint));
  return { ok: true, value: answer.result as TaskProof }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- verified before it is written
}

async function suggestTask(problem: Problem, task: string, store: Store): Promise<Problem> {
  if (problem.code !== 'ledger/no-proof') return problem;
  const known = new Set<string>();
  for await (const batch of store.entries({ from: 1 })) {
    for (const { bytes } of batch) {
      const entry = parseEntry(bytes);
      const id = entry.ok ? taskIdOf(entry.value.data) : undefined;
      if (id !== undefined) known.add(id);
    }
  }
  const meant = didYouMean(task, [...known]);
  return meant === undefined ? problem : { ...problem, hint: `${meant} ${problem.hint}` };
}
