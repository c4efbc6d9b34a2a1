import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { type Problem, problem, refused, tooLarge } from '../protocol/shape/problem.ts';
import { type CliCommand, EXIT, type Io } from './command.ts';
import { flag, list, object } from '../protocol/shape/build-shape.ts';
import { problemShape } from './json-output.ts';
import { type ListedMessageKind, MESSAGE_KIND_NAMES, requireMessageKind } from './message-kinds.ts';
import { describeFileError, renderProblem } from './problems.ts';

const KIND_ARGUMENT = {
  name: 'KIND',
  choices: MESSAGE_KIND_NAMES,
  about: `One of: ${MESSAGE_KIND_NAMES.join(', ')}`,
} as const;

export const validateCommand: CliCommand = {
  examples: ['baton validate exit signal.json', 'cat mission.yaml | baton validate mission - --json'],
  args: [KIND_ARGUMENT, { name: 'FILE|-', about: 'The message; - is standard input' }],
  options: [{ name: 'json', about: 'Print {valid, problems} as JSON' }],
  json: [{ shape: object({ valid: flag, problems: list(problemShape) }) }],
  exitCodes: { 0: 'valid', 1: 'not valid, or not readable', 2: 'usage error' },
  async run({ args: [name = '', file = ''], options }, io) {
    const kind = requireMessageKind(name);
    const input = await readMessage(file, kind, io);
    const parsed = input instanceof Uint8Array ? (await kind.load()).parse(input, file) : refused(input);
    if (options.has('json'))
      io.out(`${JSON.stringify({ valid: parsed.ok, problems: parsed.ok ? [] : parsed.problems })}\n`);
    else if (parsed.ok) io.out(`${file === '-' ? 'standard input' : file}: valid ${kind.noun}\n`);
    else printProblems(parsed.problems, file, input, io);
    return parsed.ok ? EXIT.ok : EXIT.failed;
  },
};

/** A file over the size limit is refused without being read. */
async function readMessage(file: string, kind: ListedMessageKind, io: Io): Promise<Uint8Array | Problem> {
  if (file === '-') return io.readInput();
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const stat = fstatSync(fd);
    if (stat.size > kind.limitBytes) return tooLarge(stat.size, kind.limitBytes);
    return stat.isFile() || stat.isDirectory() ? readFileSync(fd) : readAtMost(fd, kind.limitBytes + 1);
  } catch (error) {
    const message = `cannot read ${file}: ${describeFileError(error)}`;
    return problem('unreadable-file', message, 'Check the path, or pipe the message in and name `-`.');
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Reads a bounded amount, because devices and pipes may never end. */
function readAtMost(fd: number, most: number): Uint8Array {
  const buffer = new Uint8Array(most);
  let size = 0;
  for (let read = 1; read > 0 && size < most; size += read) read = readSync(fd, buffer, size, most - size, null);
  return buffer.subarray(0, size);
}

function printProblems(problems: readonly Problem[], file: string, input: Uint8Array | Problem, io: Io): void {
  const source = input instanceof Uint8Array ? new TextDecoder().decode(input) : '';
  for (const each of problems) io.err(renderProblem(each, file === '-' ? '<stdin>' : file, source, io));
}

export const schemaCommand: CliCommand = {
  examples: ['baton schema mission > mission.schema.json'],
  args: [KIND_ARGUMENT],
  options: [],
  async run({ args: [name = ''] }, io) {
    const kind = requireMessageKind(name);
    io.out(`${JSON.stringify((await kind.load()).schema, null, 2)}\n`);
    return EXIT.ok;
  },
};
