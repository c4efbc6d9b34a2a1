import { readFile } from 'node:fs/promises';
import { EXIT, type Io, type ParsedArguments } from './command.ts';
import { findMessageKind } from './message-kinds.ts';
import { type CommandInput, numberOption } from './operation-command.ts';
import { describeFileError } from './problems.ts';

/** The bytes of FILE, or of standard input for `-`. */
export async function readArgument(
  file: string,
  io: Io,
): Promise<{ readonly bytes: Uint8Array } | { readonly usage: string }> {
  if (file === '-') return { bytes: await io.readInput() };
  try {
    return { bytes: await readFile(file) };
  } catch (error) {
    return { usage: `cannot read ${file}: ${describeFileError(error)}` };
  }
}

/** A message that people may write in YAML, as the value that is sent: it is checked here, where its lines are known. */
export async function readDocumentArgument(
  file: string,
  kind: string,
  io: Io,
): Promise<{ readonly value: object } | { readonly usage: string } | { readonly invalid: string }> {
  const read = await readArgument(file, io);
  if ('usage' in read) return read;
  const parsed = (await findMessageKind(kind)?.load())?.parse(read.bytes, file);
  if (parsed?.ok && typeof parsed.value === 'object' && parsed.value !== null) return { value: parsed.value };
  const problems = parsed?.ok === false ? parsed.problems : [];
  const { renderProblem: describeProblem } = await import('./problems.ts');
  const source = new TextDecoder().decode(read.bytes);
  return { invalid: problems.map((problem) => describeProblem(problem, nameOf(file), source)).join('') };
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}

export const WAIT_OPTIONS = [
  { name: 'timeout', value: 'SECONDS', about: 'Wait no longer than this; the exit code is then 1' },
] as const;

export const WAIT_EXIT_CODES = {
  0: 'done',
  1: 'failed, cancelled, or still under way',
  3: 'waiting for a person',
} as const;

/** A day: the daemon waits no longer. */
const LONGEST_MS = 86_400_000;

export function parseWaitInput(given: ParsedArguments): CommandInput {
  const timeout = numberOption(given, 'timeout');
  if ('usage' in timeout) return timeout;
  const waitMs = timeout.value === undefined ? LONGEST_MS : Math.min(LONGEST_MS, Math.ceil(timeout.value * 1000));
  return { value: { id: given.args[0], wait_ms: Math.max(0, waitMs) } };
}

/** The exit code for how a pipeline or an agent stands. */
export function exitCodeOfOutcome({
  status,
  outcome,
}: {
  readonly status: string;
  readonly outcome?: string | null;
}): number {
  // An agent that is about to leave has its outcome already.
  const word = outcome ?? status;
  if (word === 'done') return EXIT.ok;
  return word === 'waiting' || word === 'escalated' ? EXIT.waiting : EXIT.failed;
}
