import { readFile } from 'node:fs/promises';
import { parseDuration } from '../runbook/shape/fields.ts';
import { EXIT, type Io, type ParsedArguments, type UsageError } from './command.ts';
import { requireMessageKind } from './message-kinds.ts';
import type { InvalidInput } from './operation-command.ts';
import { describeFileError } from './problems.ts';

/** Reads FILE, or standard input for `-`. */
export async function readArgument(file: string, io: Io): Promise<{ readonly bytes: Uint8Array } | UsageError> {
  if (file === '-') return { bytes: await io.readInput() };
  try {
    return { bytes: await readFile(file) };
  } catch (error) {
    return { usage: `cannot read ${file}: ${describeFileError(error)}` };
  }
}

/** Returns the text itself, or standard input for `-`. */
export async function readTextArgument(text: string, io: Io): Promise<{ readonly value: string }> {
  return { value: text === '-' ? new TextDecoder().decode(await io.readInput()) : text };
}

/** Parses a message that may be YAML. Validated here, because only the file has line numbers. */
export async function readDocumentArgument(
  file: string,
  kind: string,
  io: Io,
): Promise<{ readonly value: object } | UsageError | InvalidInput> {
  const read = await readArgument(file, io);
  if ('usage' in read) return read;
  const parsed = (await requireMessageKind(kind).load()).parse(read.bytes, file);
  if (parsed.ok && typeof parsed.value === 'object' && parsed.value !== null) return { value: parsed.value };
  const problems = !parsed.ok ? parsed.problems : [];
  const source = new TextDecoder().decode(read.bytes);
  const name = file === '-' ? 'standard input' : file;
  return { invalid: problems.map((each) => ({ ...each, file: name })), source };
}

export const WAIT_OPTIONS = [
  { name: 'timeout', value: 'TIME', about: 'Stop waiting after this time, with exit code 1: 90 (seconds), 10m, 2h' },
] as const;

/** One day, which is also the daemon's limit. */
export const MAX_WAIT_MS = 86_400_000;

export function parseTimeout(given: ParsedArguments): number | UsageError {
  const timeout = durationOption(given, 'timeout');
  return 'usage' in timeout ? timeout : (timeout.ms ?? Infinity);
}

/** A plain number is seconds. */
export function durationOption({ options }: ParsedArguments, name: string): { readonly ms?: number } | UsageError {
  const text = options.get(name);
  if (text === undefined) return {};
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : parseDuration(text);
  return Number.isNaN(ms)
    ? { usage: `--${name} must be a time such as 90, 10m or 2h, not ${text}` }
    : { ms: Math.round(ms) };
}

export function exitCodeOfOutcome(run: { readonly status: string; readonly outcome?: string | null }): number {
  // An agent whose process still runs may already have its outcome.
  const word = run.outcome ?? run.status;
  if (word === 'done') return EXIT.ok;
  return word === 'waiting' || word === 'escalated' ? EXIT.waiting : EXIT.failed;
}
