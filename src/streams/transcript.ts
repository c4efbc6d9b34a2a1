import { globSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { type Fields, fieldsOf, textOf } from '../protocol/shape/read-unknown.ts';
import { parseClaudeUsage } from './claude.ts';
import { codexRolloutPattern, findCodexTotal } from './codex.ts';
import { readFirstLines, readLastLines } from './file-lines.ts';
import { parseGeminiUsage } from './gemini.ts';
import { parseJsonFields, type TokenUsage, type UsageEvent } from './stream-event.ts';
import { addUsage, NOTHING_USED } from './tally.ts';

/** Which part of a client's own record of a conversation is of interest. */
export interface TranscriptExcerpt {
  readonly conversation: string;
  /** RFC 3339: only what was said from then on. */
  readonly since: string;
  /** What the process has in its environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a client in a person's terminal has used: nobody hears it there, but it keeps a record. Undefined where that does not say. */
export const TRANSCRIPT_READERS: Readonly<
  Record<'stream-json' | 'codex' | 'gemini', (excerpt: TranscriptExcerpt) => UsageEvent | undefined>
> = {
  'stream-json': readClaudeTranscript,
  codex: readCodexTranscript,
  gemini: readGeminiTranscript,
};

/** One message may fill several lines, each with the same count. */
function readClaudeTranscript({ conversation, since, env }: TranscriptExcerpt): UsageEvent | undefined {
  const folder = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude');
  const files = globSync([`projects/*/${conversation}.jsonl`, `projects/*/${conversation}/**/*.jsonl`], {
    cwd: folder,
  });
  const messages = new Map<string, TokenUsage>();
  for (const line of files.flatMap((file) => linesOf(join(folder, file)))) {
    const { type, timestamp, message } = parseJsonFields(line) ?? {};
    const { id, usage } = fieldsOf(message);
    if (type === 'assistant' && textOf(timestamp) >= since && usage !== undefined)
      messages.set(textOf(id), parseClaudeUsage(fieldsOf(usage)));
  }
  return sumOf(messages);
}

function readCodexTranscript({ conversation, env }: TranscriptExcerpt): UsageEvent | undefined {
  const folder = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');
  const [file] = globSync(codexRolloutPattern(conversation), { cwd: folder });
  return file === undefined ? undefined : findCodexTotal(readLastLines(join(folder, file)));
}

/** A message is written anew when more of it is known: the last line about it counts. */
function readGeminiTranscript({ conversation, since, env }: TranscriptExcerpt): UsageEvent | undefined {
  const folder = join(env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? homedir(), '.gemini');
  const files = globSync(`tmp/*/chats/*${conversation.slice(0, 8)}*.jsonl`, { cwd: folder });
  const messages = new Map<string, TokenUsage>();
  for (const line of files.flatMap((file) => linesOf(join(folder, file)))) {
    const { id, type, timestamp, tokens } = parseJsonFields(line) ?? {};
    if (type !== 'gemini' || tokens === undefined || textOf(timestamp) < since) continue;
    messages.set(textOf(id), parseGeminiUsage(fieldsOf(tokens)));
  }
  return sumOf(messages);
}

function sumOf(messages: ReadonlyMap<string, TokenUsage>): UsageEvent | undefined {
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

/** Where and when a conversation was begun that nobody has named. */
export interface ConversationStart {
  /** Milliseconds: it was written to since then. */
  readonly since: number;
  readonly cwd: string;
  /** What the process had in its environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The conversation that a client began in a person's terminal, found in its own records: a client that is left in the middle of a turn never
 * comes to the hook that would name it. Null where there is none, or more than one that it could be.
 */
export const CONVERSATION_FINDERS: Readonly<
  Record<'stream-json' | 'codex' | 'gemini', (unnamed: ConversationStart) => string | null>
> = {
  'stream-json': (unnamed) => {
    const { env } = unnamed;
    const folder = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude');
    return onlyOne(unnamed, folder, 'projects/*/*.jsonl', (lines, file) =>
      lines.some(({ cwd }) => cwd === unnamed.cwd) ? basename(file, '.jsonl') : '',
    );
  },
  codex: (unnamed) => {
    const { env } = unnamed;
    const folder = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');
    return onlyOne(unnamed, folder, 'sessions/*/*/*/rollout-*.jsonl', ([first]) => {
      const { id, cwd } = fieldsOf(first?.['payload']);
      return cwd === unnamed.cwd ? textOf(id) : '';
    });
  },
  // Each agent has a home of its own there.
  gemini: (unnamed) => {
    const { env } = unnamed;
    const folder = join(env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? homedir(), '.gemini');
    return onlyOne(unnamed, folder, 'tmp/*/chats/*.jsonl', ([first]) => textOf(first?.['sessionId']));
  },
};

function onlyOne(
  { since }: ConversationStart,
  folder: string,
  pattern: string,
  idOf: (lines: readonly Fields[], file: string) => string,
): string | null {
  const fresh = globSync(pattern, { cwd: folder })
    .map((file) => join(folder, file))
    .filter((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since);
  const ids = fresh.map((file) =>
    idOf(
      readFirstLines(file).map((line) => fieldsOf(parseJsonFields(line))),
      file,
    ),
  );
  const [only, ...others] = new Set(ids.filter((id) => id !== ''));
  return others.length === 0 ? (only ?? null) : null;
}
