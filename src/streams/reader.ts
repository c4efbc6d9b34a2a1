import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseClaudeLine } from './claude.ts';
import { codexRolloutPattern, parseCodexLine, parseCodexRollout } from './codex.ts';
import { readLastLines } from './file-lines.ts';
import { findGeminiExitError, parseGeminiLine } from './gemini.ts';
import type { StreamEvent } from './stream-event.ts';

/** One client's way to speak. */
export interface StreamReader {
  /** A line of its output; `at` is when it was heard, in milliseconds. */
  readonly readLine: (line: string, at: number) => readonly StreamEvent[];
  /** What is known only when the process has gone: of two errors, the one that has a kind counts. */
  readonly readEnd: (end: ProcessEnd) => readonly StreamEvent[];
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly at: number;
  /** The conversation it named, and the message of the error it told last; null where there was none. */
  readonly conversation: string | null;
  readonly error: string | null;
  /** What the process had in its environment. */
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
  const folder = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');
  const [file] = globSync(codexRolloutPattern(conversation), { cwd: folder });
  return file === undefined ? [] : parseCodexRollout(readLastLines(join(folder, file)));
}

function readGeminiEnd({ code, error, at }: ProcessEnd): readonly StreamEvent[] {
  const said = code === null || error === null ? null : findGeminiExitError(code, error, at);
  return said === null ? [] : [said];
}
