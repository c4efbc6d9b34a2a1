import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { claudeMessageUsage } from './claude.ts';
import { parseCodexUsage } from './codex.ts';
import { FollowedFile } from './file-lines.ts';
import { geminiMessageUsage } from './gemini.ts';
import { type Fields, fieldsOf, textOf } from '../protocol/shape/read-unknown.ts';
import { parseJsonFields, type UsageEvent } from './stream-event.ts';

/** The location of the client's record of a conversation, from a hook. */
export interface RecordHint {
  /** `transcript_path`. */
  readonly path: string;
  /** `session_id`. */
  readonly conversation: string;
  /** `tool_use_id`; Gemini CLI sends none. */
  readonly toolUse: string | undefined;
}

export interface RecordedUsage {
  readonly events: readonly UsageEvent[];
  /** The request of this tool call is not in the record yet. */
  readonly isUncounted: boolean;
  /** The last model in the record; null if the record names none. */
  readonly model: string | null;
}

type Client = 'stream-json' | 'codex' | 'gemini';

/**
 * Reads the usage during a turn from the client's record. Before a tool call the stream has not reported it yet (Codex,
 * Gemini CLI), or not the output (Claude Code). Each line is read once.
 */
export class ClientRecord {
  readonly #client: Client;
  readonly #since: string;
  readonly #files = new Map<string, FollowedFile>();

  /** `since` (RFC 3339) is the start of the process: earlier usage of a resumed conversation is already counted. */
  constructor(client: Client, since: string) {
    this.#client = client;
    this.#since = since;
  }

  read(hint: RecordHint): RecordedUsage {
    if (!hint.path.endsWith('.jsonl')) return { events: [], isUncounted: false, model: null };
    const { filesOf, readLine } = RECORD_LAYOUTS[this.#client];
    const lines = filesOf(hint).flatMap((path) => this.#newLines(path));
    const events = lines.flatMap((line) => readLine(line, hint, this.#since));
    const models = this.#client === 'stream-json' ? [] : lines.map(modelIn).filter((model) => model !== '');
    return { events, isUncounted: this.#client === 'codex' && isUncounted(lines, hint), model: models.at(-1) ?? null };
  }

  #newLines(path: string): readonly Fields[] {
    const file = this.#files.get(path) ?? new FollowedFile(path);
    this.#files.set(path, file);
    return file.readNew().flatMap((line): readonly Fields[] => {
      const fields = parseJsonFields(line);
      return fields === null ? [] : [fields];
    });
  }
}

interface Layout {
  /** The files of the conversation and its subagents. */
  readonly filesOf: (hint: RecordHint) => readonly string[];
  readonly readLine: (line: Fields, hint: RecordHint, since: string) => readonly UsageEvent[];
}

const RECORD_LAYOUTS: Readonly<Record<Client, Layout>> = {
  'stream-json': {
    filesOf: ({ path }) => [path, ...filesBelow(path.replace(/\.jsonl$/, ''))],
    // The stream reports each message first. A message it has not reported belongs to a finished turn.
    readLine: (line) => claudeMessageUsage(line).map((event) => ({ ...event, isUpdate: true })),
  },
  // A subagent has its own conversation, which its hooks name.
  codex: {
    filesOf: ({ path }) => [path],
    readLine: (line, { conversation: id }) => {
      const { total_token_usage: total, last_token_usage: last } = fieldsOf(fieldsOf(line['payload'])['info']);
      if (!isCount(line) || total === undefined) return [];
      const request = parseCodexUsage(fieldsOf(last)).usage;
      return [{ ...parseCodexUsage(fieldsOf(total)), id, request }];
    },
  },
  // Subagents have files in a folder named after the conversation.
  gemini: {
    filesOf: ({ path, conversation }) => [path, ...filesBelow(join(dirname(path), basename(conversation)))],
    readLine: (line, _, since) => (textOf(line['timestamp']) < since ? [] : geminiMessageUsage(line)),
  },
};

/** Gemini CLI names the model with each message, Codex with each turn. */
function modelIn({ type, model, payload }: Fields): string {
  return type === 'turn_context' ? textOf(fieldsOf(payload)['model']) : textOf(model);
}

function isCount({ payload }: Fields): boolean {
  return fieldsOf(payload)['type'] === 'token_count';
}

/** Codex counts a response after the tools that it requests have run. */
function isUncounted(lines: readonly Fields[], { toolUse }: RecordHint): boolean {
  if (toolUse === undefined) return false;
  const requested = lines.findLastIndex(({ payload }) => fieldsOf(payload)['call_id'] === toolUse);
  return requested < 0 || lines.findLastIndex(isCount) < requested;
}

/** Limited, because the path comes from a hook that an agent can call, with any folder. */
function filesBelow(folder: string, levels = LEVELS): readonly string[] {
  if (levels === 0) return [];
  try {
    const found = readdirSync(folder, { withFileTypes: true }).slice(0, MOST_FILES);
    const files = found.filter((each) => each.isFile() && each.name.endsWith('.jsonl'));
    const folders = found.filter((each) => each.isDirectory());
    const here = files.map(({ name }) => join(folder, name));
    return [...here, ...folders.flatMap(({ name }) => filesBelow(join(folder, name), levels - 1))].slice(0, MOST_FILES);
  } catch {
    return [];
  }
}

/** Claude Code has `CONVERSATION/subagents/ID.jsonl`, Gemini CLI `CONVERSATION/ID.jsonl`. */
const LEVELS = 2;
const MOST_FILES = 500;
