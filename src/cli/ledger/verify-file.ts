import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { toHex } from '../../ledger/format/bytes.ts';
import type { ProvenTask } from '../../ledger/verify/task-proof.ts';
import { type VerifiedFile, verifyFile } from '../../ledger/verify/verify-file.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import { type Parsed, problem, refused } from '../../protocol/shape/problem.ts';
import { choice, list, nullable, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
import type { FieldsOf } from '../../protocol/shape/shape.ts';
import { type CliCommand, EXIT, type Io } from '../command.ts';
import { problemShape } from '../json-output.ts';
import { describeFileError, reportProblem } from '../problems.ts';
import { printable } from '../text.ts';

const verdictFields = {
  kind: choice(['task proof', 'export']),
  project: text,
  task_id: optional(text, 'Only of a proof: the task.'),
  entries: { ...whole, about: 'How many entries the file has.' },
  size: { ...whole, about: 'How many entries the ledger had.' },
  root: optional(text, 'Only of an export: the root of the tree.'),
  keys: { ...list(text), about: 'The keys that signed the checkpoints.' },
  complete: optional(
    nullable(object({ from: whole, to: whole })),
    'Only of a proof: the part of the ledger, by the numbers of entries, in which no entry about the task is missing; null for a proof from before entries had numbers within tasks.',
  ),
} as const;
type Verdict = FieldsOf<typeof verdictFields>;
const verdictShape = object({ verified: { kind: 'flag', only: true }, ...verdictFields });
const refusedShape = object({ verified: { kind: 'flag', only: false }, problems: list(problemShape) });

export const verifyFileCommand: CliCommand = {
  examples: [
    'baton verify T001.proof.json',
    'baton verify ledger.ndjson --key baton/demo+1a2b3c4d+AX…',
    'gunzip -c ledger.ndjson.gz | baton verify -',
  ],
  args: [{ name: 'FILE|-', about: 'The output of `baton ledger prove` or `baton ledger export`; - is standard input' }],
  options: [
    { name: 'key', value: 'KEY', about: 'The public key that you trust; without it, the key in the file is shown' },
    { name: 'json', about: 'Print the verdict as JSON' },
  ],
  json: [{ shape: verdictShape }, { shape: refusedShape }],
  exitCodes: { 0: 'verified', 1: 'not readable', 4: 'not verified' },
  async run({ args: [file = ''], options }, io) {
    const path = file === '-' ? file : resolve(io.cwd, file);
    const key = options.get('key');
    const verdict = await check(path, key);
    if (!verdict.ok && verdict.problems[0].code === UNREADABLE) return reportProblem(verdict.problems[0], io);
    if (options.has('json')) {
      const { ok: verified } = verdict;
      const json = verdict.ok ? { verified, ...verdict.value } : { verified, problems: verdict.problems };
      io.out(`${JSON.stringify(json)}\n`);
    } else if (verdict.ok) printVerdict(verdict.value, file, key, io);
    else return reportProblem(verdict.problems[0], io, EXIT.notVerified);
    return verdict.ok ? EXIT.ok : EXIT.notVerified;
  },
};

const UNREADABLE = 'unreadable-file';

async function check(path: string, key: string | undefined): Promise<Parsed<Verdict>> {
  try {
    const verified = await verifyFile(nodeVerifier, piecesOf(path), key);
    return verified.ok ? { ok: true, value: verdictOf(verified.value) } : verified;
  } catch (error) {
    return refused(problem(UNREADABLE, `cannot read ${path}: ${describeFileError(error)}`, 'Check the path.'));
  }
}

async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  for await (const piece of path === '-' ? process.stdin : createReadStream(path)) {
    yield Buffer.isBuffer(piece) ? piece : Buffer.from(String(piece));
  }
}

function verdictOf(file: VerifiedFile): Verdict {
  const { kind, project, size } = file;
  if (kind === 'export') return { kind, project, entries: size, size, root: toHex(file.root), keys: file.keys };
  const { taskId: task_id, entries, key, complete = null } = file;
  return { kind, project, task_id, entries: entries.length, size, keys: [key], complete };
}

function printVerdict(
  { kind, project, task_id: task, entries, size, keys, complete }: Verdict,
  file: string,
  key: string | undefined,
  io: Io,
): void {
  const about = task === undefined ? '' : ` about ${printable(task)}`;
  io.out(
    `${printable(file)}: verified ${kind}, ${entries} entries${about} of ${project} (${size} entries in the ledger)${complete === undefined ? '' : describeCompleteness({ complete })}\n`,
  );
  if (key === undefined)
    io.out(
      `signed by ${keys.join(', ')}\nCompare this key with the one that you trust, or pass the trusted key: --key KEY\n`,
    );
}

/** Says in which part of the ledger no entry about the task is missing. */
export function describeCompleteness({ complete }: { readonly complete: ProvenTask['complete'] | null }): string {
  if (complete === undefined || complete === null) return '; completeness is not provable: entries may be missing';
  const { from, to } = complete;
  const before = from === 1 ? '' : `; completeness is not provable before entry ${from}`;
  return `; none is missing up to entry ${to}${before}`;
}
