import { globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { claudeUsage } from './claude.ts';
import { readCodexTotal, codexRolloutPattern } from './codex-rollout.ts';
import { fieldsOf, parseFields, textOf } from './fields.ts';
import { readLastLines } from './file-lines.ts';
import { geminiUsage } from './gemini.ts';
import type { Usage, UsageSaid } from './said.ts';
import { NOTHING_USED, plus } from './tally.ts';

/** Which part of a client's own record of a conversation is of interest. */
export interface Excerpt {
  readonly conversation: string;
  /** RFC 3339: only what was said from then on. */
  readonly since: string;
  /** What the process has in its environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a client in a person's terminal has used: nobody hears it there, but it keeps a record. Undefined where that does not say. */
export const TRANSCRIPTS: Readonly<
  Record<'stream-json' | 'codex' | 'gemini', (excerpt: Excerpt) => UsageSaid | undefined>
> = {
  'stream-json': readClaudeTranscript,
  codex: readCodexTranscript,
  gemini: readGeminiTranscript,
};

/** One message may fill several lines, each with the same count. */
function readClaudeTranscript({ conversation, since, env }: Excerpt): UsageSaid | undefined {
  const folder = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude');
  const files = globSync([`projects/*/${conversation}.jsonl`, `projects/*/${conversation}/**/*.jsonl`], {
    cwd: folder,
  });
  const messages = new Map<string, Usage>();
  for (const line of files.flatMap((file) => linesOf(join(folder, file)))) {
    const { type, timestamp, message } = parseFields(line) ?? {};
    const { id, usage } = fieldsOf(message);
    if (type === 'assistant' && textOf(timestamp) >= since && usage !== undefined)
      messages.set(textOf(id), claudeUsage(fieldsOf(usage)));
  }
  return sumOf(messages);
}

function readCodexTranscript({ conversation, env }: Excerpt): UsageSaid | undefined {
  const folder = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');
  const [file] = globSync(codexRolloutPattern(conversation), { cwd: folder });
  return file === undefined ? undefined : readCodexTotal(readLastLines(join(folder, file)));
}

/** A message is written anew when more of it is known: the last line about it counts. */
function readGeminiTranscript({ conversation, since, env }: Excerpt): UsageSaid | undefined {
  const folder = join(env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? homedir(), '.gemini');
  const files = globSync(`tmp/*/chats/*${conversation.slice(0, 8)}*.jsonl`, { cwd: folder });
  const messages = new Map<string, Usage>();
  for (const line of files.flatMap((file) => linesOf(join(folder, file)))) {
    const { id, type, timestamp, tokens } = parseFields(line) ?? {};
    if (type !== 'gemini' || tokens === undefined || textOf(timestamp) < since) continue;
    messages.set(textOf(id), geminiUsage(fieldsOf(tokens)));
  }
  return sumOf(messages);
}

function sumOf(messages: ReadonlyMap<string, Usage>): UsageSaid | undefined {
  if (messages.size === 0) return undefined;
  return { kind: 'usage', of: 'turn', usage: [...messages.values()].reduce(plus, NOTHING_USED) };
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
