import { globSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { asJsonFields, parseJsonFields, asString, type JsonFields } from './fields.ts';
import { readFirstLines } from './file-lines.ts';

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
      const { id, cwd } = asJsonFields(first?.['payload']);
      return cwd === unnamed.cwd ? asString(id) : '';
    });
  },
  // Each agent has a home of its own there.
  gemini: (unnamed) => {
    const { env } = unnamed;
    const folder = join(env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? homedir(), '.gemini');
    return onlyOne(unnamed, folder, 'tmp/*/chats/*.jsonl', ([first]) => asString(first?.['sessionId']));
  },
};

function onlyOne(
  { since }: ConversationStart,
  folder: string,
  pattern: string,
  idOf: (lines: readonly JsonFields[], file: string) => string,
): string | null {
  const fresh = globSync(pattern, { cwd: folder })
    .map((file) => join(folder, file))
    .filter((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since);
  const ids = fresh.map((file) =>
    idOf(
      readFirstLines(file).map((line) => asJsonFields(parseJsonFields(line))),
      file,
    ),
  );
  const [only, ...others] = new Set(ids.filter((id) => id !== ''));
  return others.length === 0 ? (only ?? null) : null;
}
