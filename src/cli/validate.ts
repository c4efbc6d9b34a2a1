import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { type Parsed, type Problem, problem, refused, tooLarge } from '../protocol/shape/problem.ts';
import { type CliCommand, EXIT, type Io } from './command.ts';
import { findMessageKind, type ListedMessageKind, MESSAGE_KIND_NAMES, reportUnknownKind } from './message-kinds.ts';
import { describeFileError } from './problems.ts';

export const validateCommand: CliCommand = {
  name: 'validate',
  summary: 'Check a message and show what is wrong with it',
  examples: ['baton validate exit signal.json', 'cat mission.yaml | baton validate mission - --json'],
  args: [
    { name: 'KIND', about: `One of: ${MESSAGE_KIND_NAMES.join(', ')}` },
    { name: 'FILE|-', about: 'The message; - is standard input' },
  ],
  options: [{ name: 'json', about: 'Print {valid, problems} as JSON' }],
  exitCodes: { 0: 'valid', 1: 'not valid, or not readable', 2: 'wrong usage' },
  async run({ args: [kind = '', file = ''], options }, io) {
    const dialect = findMessageKind(kind);
    if (dialect === undefined) return reportUnknownKind(kind, io);
    const input = await readMessage(file, dialect, io);
    const parsed = input instanceof Uint8Array ? (await dialect.load()).parse(input, file) : refused(input);
    if (options.has('json')) io.out(`${JSON.stringify(verdictOf(parsed))}\n`);
    else if (parsed.ok) io.out(`${file === '-' ? 'standard input' : file}: valid ${dialect.noun}\n`);
    else await printProblems(parsed.problems, file, input, io);
    return parsed.ok ? EXIT.ok : EXIT.failed;
  },
};

/** The bytes, or why they cannot be had. A file over the limit is refused by its size, without being read. */
async function readMessage(file: string, dialect: ListedMessageKind, io: Io): Promise<Uint8Array | Problem> {
  if (file === '-') return io.readInput();
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const stat = fstatSync(fd);
    if (stat.size > dialect.limitBytes) return tooLarge(stat.size, dialect.limitBytes);
    return stat.isFile() || stat.isDirectory() ? readFileSync(fd) : readAtMost(fd, dialect.limitBytes + 1);
  } catch (error) {
    return unreadableFile(file, error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** From a device or a pipe, which may never end. */
function readAtMost(fd: number, most: number): Uint8Array {
  const buffer = new Uint8Array(most);
  let size = 0;
  for (let read = 1; read > 0 && size < most; size += read) read = readSync(fd, buffer, size, most - size, null);
  return buffer.subarray(0, size);
}

function unreadableFile(file: string, error: unknown): Problem {
  return problem(
    'unreadable-file',
    `cannot read ${file}: ${describeFileError(error)}`,
    'Check the path, or pipe the message in and name `-`.',
  );
}

function verdictOf(parsed: Parsed<unknown>): { valid: boolean; problems: readonly Problem[] } {
  return { valid: parsed.ok, problems: parsed.ok ? [] : parsed.problems };
}

async function printProblems(
  problems: readonly Problem[],
  file: string,
  input: Uint8Array | Problem,
  io: Io,
): Promise<void> {
  const { renderProblem: describeProblem } = await import('./problems.ts');
  const source = input instanceof Uint8Array ? new TextDecoder().decode(input) : '';
  for (const each of problems) io.err(describeProblem(each, file === '-' ? '<stdin>' : file, source));
}

export const schemaCommand: CliCommand = {
  name: 'schema',
  summary: 'Print the JSON Schema of a message',
  examples: ['baton schema mission > mission.schema.json'],
  args: [{ name: 'KIND', about: `One of: ${MESSAGE_KIND_NAMES.join(', ')}` }],
  options: [],
  async run({ args: [kind = ''] }, io) {
    const dialect = findMessageKind(kind);
    if (dialect === undefined) return reportUnknownKind(kind, io);
    io.out(`${JSON.stringify((await dialect.load()).schema, null, 2)}\n`);
    return EXIT.ok;
  },
};
