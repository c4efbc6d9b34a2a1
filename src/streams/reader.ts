import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readClaudeLine } from './claude.ts';
import { codexRolloutPattern, readCodexRollout } from './codex-rollout.ts';
import { readCodexLine } from './codex.ts';
import { readGeminiExit, readGeminiLine } from './gemini.ts';
import { readLastLines } from './file-lines.ts';
import type { Said } from './said.ts';

/** One client's way to speak. */
export interface Reader {
  /** A line of its output; `at` is when it was heard, in milliseconds. */
  readonly readLine: (line: string, at: number) => readonly Said[];
  /** What is known only when the process has gone: of two errors, the one that has a kind counts. */
  readonly readEnd: (end: End) => readonly Said[];
}

export interface End {
  readonly code: number | null;
  readonly at: number;
  /** The conversation it named, and the message of the error it told last; null where there was none. */
  readonly conversation: string | null;
  readonly error: string | null;
  /** What the process had in its environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** By the `output` of a launch. */
export const READERS: Readonly<Record<'stream-json' | 'codex' | 'gemini', Reader>> = {
  'stream-json': { readLine: readClaudeLine, readEnd: () => [] },
  codex: { readLine: readCodexLine, readEnd: readCodexEnd },
  gemini: { readLine: readGeminiLine, readEnd: readGeminiEnd },
};

function readCodexEnd({ conversation, env }: End): readonly Said[] {
  if (conversation === null) return [];
  const folder = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');
  const [file] = globSync(codexRolloutPattern(conversation), { cwd: folder });
  return file === undefined ? [] : readCodexRollout(readLastLines(join(folder, file)));
}

function readGeminiEnd({ code, error, at }: End): readonly Said[] {
  const said = code === null || error === null ? null : readGeminiExit(code, error, at);
  return said === null ? [] : [said];
}
