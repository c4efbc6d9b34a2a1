import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseHex, sameBytes, toHex } from '../../ledger/format/bytes.ts';
import { parseEntry } from '../../ledger/format/entry.ts';
import { leafHash } from '../../ledger/format/merkle.ts';
import type { Store } from '../../ledger/store.ts';
import { exportLedger } from '../../ledger/verify/export.ts';
import type { LedgerFault } from '../../ledger/verify/walk.ts';
import { nodeSha256, nodeVerifier } from '../../ledger/writer/keys.ts';
import { object, optional, text } from '../../protocol/shape/build-shape.ts';
import { callOperation } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { entryShape } from '../json-output.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { printable, printableLines } from '../text.ts';
import { withStore } from './with-store.ts';

const notInSession = 'Left out in a session, which reads through the daemon.';
const { v, project, prev } = entryShape.fields;
const shownEntry = object({
  entry: object({
    ...entryShape.fields,
    v: optional(v, notInSession),
    project: optional(project, notInSession),
    prev: optional(prev, notInSession),
  }),
  hash: optional(text, notInSession),
});

export const ledgerShowCommand: CliCommand = {
  examples: ['baton ledger show 42', 'baton ledger show 42 --json'],
  args: [{ name: 'SEQ', about: 'The number of the entry' }],
  options: [JSON_OPTION, PROJECT_OPTION],
  json: [{ shape: shownEntry }],
  exitCodes: { 0: 'shown', 1: 'no such entry', 4: 'the entry is not what was recorded' },
  run(given, io) {
    const [text = ''] = given.args;
    const seq = Number(text);
    if (!/^[1-9][0-9]{0,15}$/.test(text)) {
      const hint = 'Numbers start at 1; `baton ledger log` shows them.';
      return reportProblem({ code: 'usage', message: `'${text}' is not the number of an entry`, hint }, io, EXIT.usage);
    }
    const show = async (store: Store): Promise<number> => {
      for await (const [stored] of store.entries({ from: seq, to: seq })) {
        if (!stored) continue;
        const entry = parseEntry(stored.bytes);
        if (!entry.ok || !sameBytes(leafHash(nodeSha256, stored.bytes), stored.hash)) {
          const message = `entry ${seq} is not what was recorded`;
          return reportProblem({ ...ALTERED, message }, io, EXIT.notVerified);
        }
        printEntry({ entry: entry.value, hash: toHex(stored.hash) }, given, io);
        return EXIT.ok;
      }
      const { size } = await store.head();
      return reportProblem(
        { code: 'no-such-entry', message: `there is no entry ${seq}`, hint: `The newest entry is ${size}.` },
        io,
      );
    };
    return withStore(given, io, show, async () => {
      const answer = await callOperation('entry_get', { seq }, given, io);
      if (!answer.ok) return reportProblem(answer.error, io);
      printEntry({ entry: answer.result }, given, io);
      return EXIT.ok;
    });
  },
};

const ALTERED = { code: 'ledger/altered', hint: 'Run: baton ledger verify' } as const;

function printEntry(shown: object, given: ParsedArguments, io: Io): void {
  const pretty = JSON.stringify(shown, null, 2).split('\n').map(printable).join('\n');
  io.out(given.options.has('json') ? `${JSON.stringify(shown)}\n` : `${pretty}\n`);
}

export const ledgerBlobCommand: CliCommand = {
  examples: ['baton ledger blob sha256:9f86d081…', 'baton ledger blob sha256:9f86d081… -o evidence.yaml'],
  args: [{ name: 'NAME', about: 'The name of the blob, as `baton ledger show` prints it in an entry' }],
  options: [
    { name: 'output', short: 'o', value: 'FILE', about: 'Write the bytes to this file instead of standard output' },
    PROJECT_OPTION,
  ],
  exitCodes: { 0: 'printed', 1: 'no such blob', 4: 'the blob is not what was recorded' },
  run(given, io) {
    const [name = ''] = given.args;
    const hash = parseHex(name.replace(/^sha256:/, ''));
    if (hash?.length !== 32) {
      const hint = 'It is `sha256:` and 64 hexadecimal digits; `baton ledger show SEQ` prints it.';
      return reportProblem({ code: 'usage', message: `'${name}' is not the name of a blob`, hint }, io, EXIT.usage);
    }
    return withStore(given, io, async (store) => {
      const bytes = await store.findBlob(hash);
      if (bytes === undefined)
        return reportProblem(
          { code: 'no-such-blob', message: `there is no blob ${name}`, hint: 'See the entries: baton ledger log' },
          io,
        );
      if (!sameBytes(nodeSha256(bytes), hash)) {
        const message = `the blob ${name} is not what was recorded`;
        return reportProblem({ ...ALTERED, message }, io, EXIT.notVerified);
      }
      const file = given.options.get('output');
      if (file === undefined) io.out(printableLines(new TextDecoder().decode(bytes)));
      else writeFileSync(resolve(io.cwd, file), bytes);
      return EXIT.ok;
    });
  },
};

export const ledgerExportCommand: CliCommand = {
  examples: ['baton ledger export -o ledger.ndjson', 'baton ledger export | gzip > ledger.ndjson.gz'],
  args: [],
  options: [
    { name: 'output', short: 'o', value: 'FILE', about: 'Write to this file instead of standard output' },
    PROJECT_OPTION,
  ],
  exitCodes: { 0: 'exported', 1: 'there is no ledger', 4: 'what is stored is not what was recorded' },
  run(given, io) {
    return withStore(given, io, async (store, { project }) => {
      const file = given.options.get('output');
      const lines = exportLedger(store, nodeVerifier, project);
      const fault = file === undefined ? await printExport(lines, io) : await writeExport(lines, resolve(io.cwd, file));
      if (!fault) return EXIT.ok;
      const { code, message, hint } = fault.problem;
      return reportProblem({ code, message: `entry ${fault.seq}: ${message}`, hint }, io, EXIT.notVerified);
    });
  },
};

type Lines = AsyncGenerator<string, LedgerFault | undefined>;

async function printExport(lines: Lines, io: Io): Promise<LedgerFault | undefined> {
  for (;;) {
    const { done, value } = await lines.next();
    if (done) return value;
    io.out(value);
  }
}

/** Writes to another name until the export is complete and verified, so that `path` is never a bad export. */
async function writeExport(lines: Lines, path: string): Promise<LedgerFault | undefined> {
  const draft = `${path}.partial`;
  const fd = openSync(draft, 'w');
  try {
    for (;;) {
      const { done, value } = await lines.next();
      if (!done) writeSync(fd, value);
      else if (value) return value;
      else break;
    }
    renameSync(draft, path);
    return undefined;
  } finally {
    closeSync(fd);
    rmSync(draft, { force: true });
  }
}
