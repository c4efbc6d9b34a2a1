import { type Fields, fieldsOf, textOf } from '../protocol/shape/read-unknown.ts';
import { globSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readFirstLines, readRegular } from './file-lines.ts';
import { parseJsonFields, type StreamEvent, type TokenUsage, type UsageEvent } from './stream-event.ts';
import { addUsage, NOTHING_USED } from './tally.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** One output format: how Baton parses the stream and the records of its client, and refuses a tool. */
export interface ClientStream {
  /** The folder with the client's records. In a sandbox it is at another path outside. */
  readonly recordsIn: (env: Environment) => string;
  /** Parses a line of output received at `at` (milliseconds). */
  readonly readLine: (line: string, at: number) => readonly StreamEvent[];
  /** Returns events that are known only after the process has exited. Of two errors, the one with a kind counts. */
  readonly readEnd: (end: ProcessEnd) => readonly StreamEvent[];
  /**
   * Reads the usage of a client in a user's terminal, which has no stream, from its record; undefined if there is none.
   */
  readonly readTranscript: (excerpt: TranscriptExcerpt) => UsageEvent | undefined;
  /**
   * Finds the conversation of a client in a user's terminal, because a client that is stopped in a turn never runs the
   * hook that names it. Null if there are none or several.
   */
  readonly findConversation: (start: ConversationStart) => string | null;
  readonly record: RecordLayout;
  /** Refuses a tool and ends the turn. */
  readonly denyTool: (reason: string) => ToolDenial;
}

interface ProcessEnd {
  readonly code: number | null;
  readonly at: number;
  /** The reported conversation and the last error message; null if there was none. */
  readonly conversation: string | null;
  readonly error: string | null;
  /** The folder of `recordsIn`. */
  readonly folder: string;
}

export interface TranscriptExcerpt {
  readonly conversation: string;
  /** RFC 3339: only lines since then count. */
  readonly since: string;
  /** The folder of `recordsIn`. */
  readonly folder: string;
}

export interface ConversationStart {
  /** Milliseconds: only records written since then count. */
  readonly since: number;
  readonly cwd: string;
  /** The folder of `recordsIn`. */
  readonly folder: string;
}

/** The location of the client's record of a conversation, as a hook reports it. */
export interface RecordHint {
  /** The hook's `transcript_path`. */
  readonly path: string;
  /** The hook's `session_id`. */
  readonly conversation: string;
  /** The hook's `tool_use_id`; Gemini CLI sends none. */
  readonly toolUse: string | undefined;
}

/** The client's record of a conversation, as lines of JSON. */
interface RecordLayout {
  /** The files of the conversation and of its subagents. */
  readonly filesOf: (hint: RecordHint) => readonly string[];
  readonly readLine: (line: Fields, hint: RecordHint, since: string) => readonly UsageEvent[];
  /** The model that a line names, or an empty text. */
  readonly modelIn: (line: Fields) => string;
  /** Reports whether these lines lack the request of this tool call. */
  readonly isUncounted: (lines: readonly Fields[], hint: RecordHint) => boolean;
}

export interface ToolDenial {
  readonly answer: object;
  /** Whether the process must be ended, because no response ends a turn of this client. */
  readonly endsProcess: boolean;
}

/** The refusal of a `PreToolUse` hook, in Claude Code and Codex. */
export function preToolDenial(reason: string): object {
  return { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason };
}

/** The folder of a client's settings and records: the one that the variable names, or `name` in the home folder. */
export function clientHome(env: Environment, variable: string, name: string): string {
  return env[variable] ?? join(env['HOME'] ?? homedir(), name);
}

export function findRecords(folder: string, pattern: string | string[]): readonly string[] {
  return globSync(pattern, { cwd: folder }).map((file) => join(folder, file));
}

/** Adds up messages. A message may have several lines; the last one counts. */
export function sumMessages(
  { since }: TranscriptExcerpt,
  files: readonly string[],
  usageOf: (line: Fields) => readonly UsageEvent[],
): UsageEvent | undefined {
  const messages = new Map<string, TokenUsage>();
  for (const line of files.flatMap(linesOf)) {
    const fields = fieldsOf(parseJsonFields(line));
    if (textOf(fields['timestamp']) < since) continue;
    for (const { id = '', usage } of usageOf(fields)) messages.set(id, usage);
  }
  if (messages.size === 0) return undefined;
  return { kind: 'usage', of: 'turn', usage: [...messages.values()].reduce(addUsage, NOTHING_USED) };
}

function linesOf(path: string): readonly string[] {
  return readRegular(path, (file) => readFileSync(file, 'utf8').split('\n')) ?? [];
}

/** The only conversation whose record was written since the start; null if there are none or several. */
export function findOnlyConversation(
  { since }: ConversationStart,
  files: readonly string[],
  idOf: (lines: readonly Fields[], file: string) => string,
): string | null {
  const ids = files
    .filter((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since)
    .map((file) => {
      const lines = readFirstLines(file).map((line) => fieldsOf(parseJsonFields(line)));
      return idOf(lines, file);
    });
  const [only, ...others] = new Set(ids.filter((id) => id !== ''));
  return others.length === 0 ? (only ?? null) : null;
}
