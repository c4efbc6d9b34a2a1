import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { toHex } from '../../ledger/format/bytes.ts';
import { LEDGER_LIMITS } from '../../ledger/format/limits.ts';
import { verifyExport } from '../../ledger/verify/export.ts';
import { verifyTaskProof } from '../../ledger/verify/task-proof.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import { type Parsed, problem, refused } from '../../protocol/shape/problem.ts';
import { choice, list, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
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
    const input = await openInput(file === '-' ? file : resolve(io.cwd, file));
    if (!input.ok) return reportProblem(input.problems[0], io);
    const key = options.get('key');
    const verdict = input.value.isExport ? await checkExport(input.value, key) : await checkProof(input.value, key);
    if (options.has('json')) {
      const { ok: verified } = verdict;
      const json = verdict.ok ? { verified, ...verdict.value } : { verified, problems: verdict.problems };
      io.out(`${JSON.stringify(json)}\n`);
    } else if (verdict.ok) printVerdict(verdict.value, file, key, io);
    else return reportProblem(verdict.problems[0], io, EXIT.notVerified);
    return verdict.ok ? EXIT.ok : EXIT.notVerified;
  },
};

/** An export has many lines and may be larger than memory. A proof is one JSON value. */
interface Input {
  readonly isExport: boolean;
  readonly pieces: AsyncGenerator<Buffer>;
}

async function openInput(path: string): Promise<Parsed<Input>> {
  const pieces: AsyncGenerator<Buffer> = piecesOf(path);
  try {
    const first = await readStart(pieces);
    const isExport = /^\{"(?:entry|checkpoint)":/.test(first.toString('utf8', 0, START_BYTES));
    return { ok: true, value: { isExport, pieces: prepend(first, pieces) } };
  } catch (error) {
    return refused(problem('unreadable-file', `cannot read ${path}: ${describeFileError(error)}`, 'Check the path.'));
  }
}

const START_BYTES = 64;

async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  for await (const piece of path === '-' ? process.stdin : createReadStream(path)) {
    yield Buffer.isBuffer(piece) ? piece : Buffer.from(String(piece));
  }
}

async function readStart(pieces: AsyncGenerator<Buffer>): Promise<Buffer> {
  let start = Buffer.alloc(0);
  while (start.length < START_BYTES) {
    const next = await pieces.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

async function* prepend(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function checkProof({ pieces }: Input, key: string | undefined): Promise<Parsed<Verdict>> {
  const value = await readValue(pieces);
  if (value === undefined) {
    return refused(problem('ledger/bad-proof', 'this is neither a task proof nor an export', 'Create it again.'));
  }
  const proven = await verifyTaskProof(nodeVerifier, value, key);
  if (!proven.ok) return proven;
  const { project, taskId: task_id, entries, size, key: signer } = proven.value;
  return {
    ok: true,
    value: { kind: 'task proof', project, task_id, entries: entries.length, size, keys: [signer] },
  };
}

/** Returns undefined if the input is not JSON, or too large for a proof. */
async function readValue(pieces: AsyncGenerator<Buffer>): Promise<unknown> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    read.push(piece);
    bytes += piece.length;
    if (bytes > LEDGER_LIMITS.proofBytes) return undefined;
  }
  try {
    return JSON.parse(Buffer.concat(read).toString('utf8'));
  } catch {
    return undefined;
  }
}

async function checkExport({ pieces }: Input, key: string | undefined): Promise<Parsed<Verdict>> {
  const lines = createInterface({ input: Readable.from(pieces), crlfDelay: Infinity });
  const checked = await verifyExport(nodeVerifier, lines, key);
  if (!checked.ok) return checked;
  const { project, size, root, keys } = checked.value;
  return { ok: true, value: { kind: 'export', project, entries: size, size, root: toHex(root), keys } };
}

function printVerdict(
  { kind, project, task_id: task, entries, size, keys }: Verdict,
  file: string,
  key: string | undefined,
  io: Io,
): void {
  const about = task === undefined ? '' : ` about ${printable(task)}`;
  io.out(
    `${printable(file)}: verified ${kind}, ${entries} entries${about} of ${project} (${size} entries in the ledger)\n`,
  );
  if (key === undefined)
    io.out(
      `signed by ${keys.join(', ')}\nCompare this key with the one that you trust, or pass the trusted key: --key KEY\n`,
    );
}
