import { fieldsOf, textOf, type Fields } from '../protocol/shape/read-unknown.ts';
import { globSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { claudeMessageUsage } from './claude.ts';
import { codexRolloutPattern, findCodexTotal } from './codex.ts';
import { readFirstLines, readLastLines } from './file-lines.ts';
import { geminiMessageUsage } from './gemini.ts';
import { parseJsonFields, type TokenUsage, type UsageEvent } from './stream-event.ts';
import { addUsage, NOTHING_USED } from './tally.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Client = 'stream-json' | 'codex' | 'gemini';

/** The part of a client's record to read. */
export interface TranscriptExcerpt {
  readonly conversation: string;
  /** RFC 3339: only lines from then on. */
  readonly since: string;
  /** The environment of the process. */
  readonly env: Environment;
}

/** Where each client keeps its records. */
const HOMES: Readonly<Record<Client, (env: Environment) => string>> = {
  'stream-json': (env) => env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude'),
  codex: (env) => env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex'),
  gemini: (env) => join(env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? homedir(), '.gemini'),
};

/** The usage of a client in a person's terminal, which has no stream, from its record. Undefined if it has none. */
export const TRANSCRIPT_READERS: Readonly<Record<Client, (excerpt: TranscriptExcerpt) => UsageEvent | undefined>> = {
  'stream-json': (excerpt) => {
    const { conversation } = excerpt;
    const files = [`projects/*/${conversation}.jsonl`, `projects/*/${conversation}/**/*.jsonl`];
    return sumMessages(excerpt, findRecords('stream-json', excerpt.env, files), claudeMessageUsage);
  },
  codex: ({ conversation, env }) => {
    const lines = readCodexRollout(conversation, env);
    return lines && findCodexTotal(lines);
  },
  gemini: (excerpt) => {
    const files = `tmp/*/chats/*${excerpt.conversation.slice(0, 8)}*.jsonl`;
    return sumMessages(excerpt, findRecords('gemini', excerpt.env, files), geminiMessageUsage);
  },
};

/** The end of the rollout of a conversation; undefined if there is none. */
export function readCodexRollout(conversation: string, env: Environment): readonly string[] | undefined {
  const [file] = findRecords('codex', env, codexRolloutPattern(conversation));
  return file === undefined ? undefined : readLastLines(file);
}

function findRecords(client: Client, env: Environment, pattern: string | string[]): readonly string[] {
  const folder = HOMES[client](env);
  return globSync(pattern, { cwd: folder }).map((file) => join(folder, file));
}

/** A message may have several lines; the last one counts. */
function sumMessages(
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
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** Where and when an unnamed conversation started. */
export interface ConversationStart {
  /** Milliseconds: the record was written since then. */
  readonly since: number;
  readonly cwd: string;
  /** The environment of the process. */
  readonly env: Environment;
}

/**
 * Finds the conversation of a client in a person's terminal: a client that is stopped during a turn never runs the hook
 * that would name it. Null if none or several match.
 */
export const CONVERSATION_FINDERS: Readonly<Record<Client, (start: ConversationStart) => string | null>> = {
  'stream-json': (start) =>
    findOnly('stream-json', start, 'projects/*/*.jsonl', (lines, file) =>
      lines.some(({ cwd }) => cwd === start.cwd) ? basename(file, '.jsonl') : '',
    ),
  codex: (start) =>
    findOnly('codex', start, 'sessions/*/*/*/rollout-*.jsonl', ([first]) => {
      const { id, cwd } = fieldsOf(first?.['payload']);
      return cwd === start.cwd ? textOf(id) : '';
    }),
  // Each agent has its own home, so the folder need not be compared.
  gemini: (start) => findOnly('gemini', start, 'tmp/*/chats/*.jsonl', ([first]) => textOf(first?.['sessionId'])),
};

function findOnly(
  client: Client,
  { since, env }: ConversationStart,
  pattern: string,
  idOf: (lines: readonly Fields[], file: string) => string,
): string | null {
  const ids = findRecords(client, env, pattern)
    .filter((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since)
    .map((file) => {
      const lines = readFirstLines(file).map((line) => fieldsOf(parseJsonFields(line)));
      return idOf(lines, file);
    });
  const [only, ...others] = new Set(ids.filter((id) => id !== ''));
  return others.length === 0 ? (only ?? null) : null;
}
