import { readFile } from 'node:fs/promises';
import type { Io } from './command.ts';
import { findMessageKind } from './message-kinds.ts';
import { describeFileError } from './file-failure.ts';

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
