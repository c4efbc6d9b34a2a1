import { parseClaudeLine } from './claude.ts';
import { parseCodexLine, parseCodexRollout } from './codex.ts';
import { findGeminiExitError, parseGeminiLine } from './gemini.ts';
import type { StreamEvent } from './stream-event.ts';
import { readCodexRollout } from './transcript.ts';

export interface StreamReader {
  /** Reads a line of output received at `at` (milliseconds). */
  readonly readLine: (line: string, at: number) => readonly StreamEvent[];
  /** Reads what is known only after the process has ended. Of two errors, the one with a kind counts. */
  readonly readEnd: (end: ProcessEnd) => readonly StreamEvent[];
}

interface ProcessEnd {
  readonly code: number | null;
  readonly at: number;
  /** The reported conversation and the last error message; null if there was none. */
  readonly conversation: string | null;
  readonly error: string | null;
  /** The environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** By the `output` of a launch. */
export const STREAM_READERS: Readonly<Record<'stream-json' | 'codex' | 'gemini', StreamReader>> = {
  'stream-json': { readLine: parseClaudeLine, readEnd: () => [] },
  codex: { readLine: parseCodexLine, readEnd: readCodexEnd },
  gemini: { readLine: parseGeminiLine, readEnd: readGeminiEnd },
};

function readCodexEnd({ conversation, env }: ProcessEnd): readonly StreamEvent[] {
  if (conversation === null) return [];
  return parseCodexRollout(readCodexRollout(conversation, env) ?? []);
}

function readGeminiEnd({ code, error, at }: ProcessEnd): readonly StreamEvent[] {
  const event = code === null || error === null ? null : findGeminiExitError(code, error, at);
  return event === null ? [] : [event];
}
