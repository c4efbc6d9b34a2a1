import { closeSync, createReadStream, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { toHex } from '../ledger/hex.ts';
import { LIMITS } from '../ledger/limits.ts';
import { nodeVerifier } from '../ledger/node-crypto.ts';
import { verifyExport } from '../ledger/verify-export.ts';
import { verifyTaskProof } from '../ledger/verify-task-proof.ts';
import { problem, refused, type Parsed } from '../protocol/problem.ts';
import { EXIT, type Command, type Io } from './command.ts';
import { fail } from './ledger/with-store.ts';
import { printable } from './printable.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'Check a task proof or an export, offline',
  examples: ['baton verify T001.proof.json', 'baton verify ledger.ndjson --key baton/demo+1a2b3c4d+AX…'],
  args: [{ name: 'FILE', about: 'What `baton ledger prove` or `baton ledger export` wrote' }],
  options: [
    {
      name: 'key',
      value: 'KEY',
      about: 'The public key, known from elsewhere; without it the one in the file is shown',
    },
    { name: 'json', about: 'Print the verdict as JSON' },
  ],
  exitCodes: { 0: 'verified', 1: 'not readable', 4: 'not verified' },
  async run({ args: [file = ''], options }, io) {
    const path = resolve(io.cwd, file);
    const isProof = looksLikeProof(path);
    if (!isProof.ok) return fail(isProof.problems[0], io);
    const key = options.get('key');
    const verdict = isProof.value ? await checkProof(path, key) : await checkExport(path, key);
    if (options.has('json')) io.out(`${JSON.stringify(asJson(verdict))}\n`);
    else if (verdict.ok) describe(verdict.value, file, key, io);
    else return fail(verdict.problems[0], io, EXIT.notVerified);
    return verdict.ok ? EXIT.ok : EXIT.notVerified;
  },
};

interface Verdict {
  readonly kind: 'task proof' | 'export';
  readonly project: string;
  readonly task_id?: string;
  readonly entries: number;
  readonly size: number;
  readonly root?: string;
  readonly keys: readonly string[];
}

/** An export is many lines of JSON, a proof is one value: its first line alone is none, or is the whole. */
function looksLikeProof(path: string): Parsed<boolean> {
  try {
    const { size } = statSync(path);
    const isExport = size > LIMITS.proofBytes || /^\{"(?:entry|checkpoint)":/.test(readStart(path));
    return { ok: true, value: !isExport };
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    return refused(problem('unreadable-file', `cannot read ${path}: ${what}`, 'Check the path.'));
  }
}

function readStart(path: string): string {
  const fd = openSync(path, 'r');
  try {
    const start = Buffer.alloc(64);
    return start.toString('utf8', 0, readSync(fd, start));
  } finally {
    closeSync(fd);
  }
}

async function checkProof(path: string, key: string | undefined): Promise<Parsed<Verdict>> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return refused(problem('ledger/bad-proof', 'the file is neither a task proof nor an export', 'Make it again.'));
  }
  const proven = await verifyTaskProof(nodeVerifier, value, key);
  if (!proven.ok) return proven;
  const { project, taskId, entries, size, key: signer } = proven.value;
  const verdict = {
    kind: 'task proof',
    project,
    task_id: taskId,
    entries: entries.length,
    size,
    keys: [signer],
  } as const;
  return { ok: true, value: verdict };
}

async function checkExport(path: string, key: string | undefined): Promise<Parsed<Verdict>> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  const checked = await verifyExport(nodeVerifier, lines, key);
  if (!checked.ok) return checked;
  const { project, size, root, keys } = checked.value;
  return { ok: true, value: { kind: 'export', project, entries: size, size, root: toHex(root), keys } };
}

function asJson(verdict: Parsed<Verdict>): unknown {
  return verdict.ok ? { verified: true, ...verdict.value } : { verified: false, problems: verdict.problems };
}

function describe(
  { kind, project, task_id: task, entries, size, keys }: Verdict,
  file: string,
  key: string | undefined,
  io: Io,
): void {
  const about = task === undefined ? '' : ` about ${printable(task)}`;
  io.out(`${printable(file)}: verified ${kind}, ${entries} entries${about} of ${project} (ledger of ${size})\n`);
  if (key === undefined)
    io.out(`signed by ${keys.join(', ')}\ncompare this key with one from elsewhere, or pass it: --key KEY\n`);
}
