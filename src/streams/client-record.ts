import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Fields, fieldsOf, textOf } from '../protocol/shape/read-unknown.ts';
import { parseClaudeUsage } from './claude.ts';
import { parseCodexUsage } from './codex.ts';
import { FollowedFile } from './file-lines.ts';
import { parseGeminiUsage } from './gemini.ts';
import { parseJsonFields, type UsageEvent } from './stream-event.ts';

/** What a hook says about the client's own record of the conversation. */
export interface RecordHint {
  /** `transcript_path`. */
  readonly path: string;
  /** `session_id`. */
  readonly conversation: string;
  /** `tool_use_id`; Gemini CLI has none. */
  readonly toolUse: string | undefined;
}

export interface RecordedUsage {
  readonly said: readonly UsageEvent[];
  /** The request that asked for this tool is not in the record yet. */
  readonly isUncounted: boolean;
  /** The model that answered last, if the record names it. */
  readonly model: string | null;
}

type Client = 'stream-json' | 'codex' | 'gemini';

/**
 * Reads what a client has used inside a turn from the record that it keeps of each conversation. Before a tool its stream has not told
 * that yet (Codex, Gemini CLI), or not how much the model wrote (Claude Code). Each line is read once.
 */
export class ClientRecord {
  readonly #client: Client;
  readonly #since: string;
  readonly #files = new Map<string, FollowedFile>();

  /** `since` (RFC 3339) is the start of the process: what a resumed conversation used before that is counted already. */
  constructor(client: Client, since: string) {
    this.#client = client;
    this.#since = since;
  }

  read(hint: RecordHint): RecordedUsage {
    if (!hint.path.endsWith('.jsonl')) return { said: [], isUncounted: false, model: null };
    const { filesOf, readLine } = RECORD_LAYOUTS[this.#client];
    const lines = filesOf(hint).flatMap((path) => this.#newLines(path));
    const said = lines.flatMap((line) => readLine(line, hint, this.#since));
    const models = this.#client === 'stream-json' ? [] : lines.map(modelIn).filter((model) => model !== '');
    return { said, isUncounted: this.#client === 'codex' && isUncounted(lines, hint), model: models.at(-1) ?? null };
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
  /** The files of the conversation and of its subagents. */
  readonly filesOf: (hint: RecordHint) => readonly string[];
  readonly readLine: (line: Fields, hint: RecordHint, since: string) => readonly UsageEvent[];
}

const RECORD_LAYOUTS: Readonly<Record<Client, Layout>> = {
  'stream-json': {
    filesOf: ({ path }) => [path, ...filesBelow(path.replace(/\.jsonl$/, ''))],
    // The stream reports each message first. A message that it has not reported belongs to a turn that is over.
    readLine: ({ type, message }) => {
      const { id, usage } = fieldsOf(message);
      if (type !== 'assistant' || usage === undefined) return [];
      return [
        { kind: 'usage', of: 'message', id: textOf(id), isUpdate: true, usage: parseClaudeUsage(fieldsOf(usage)) },
      ];
    },
  },
  // A subagent has a conversation of its own, and names it at its hooks.
  codex: {
    filesOf: ({ path }) => [path],
    readLine: (line, { conversation: id }) => {
      const { total_token_usage: total, last_token_usage: last } = fieldsOf(fieldsOf(line['payload'])['info']);
      if (!isCount(line) || total === undefined) return [];
      const request = parseCodexUsage(fieldsOf(last)).usage;
      return [{ ...parseCodexUsage(fieldsOf(total)), id, request }];
    },
  },
  // Subagents have files in a folder that is named like the conversation.
  gemini: {
    filesOf: ({ path, conversation }) => [path, ...filesBelow(join(dirname(path), basename(conversation)))],
    readLine: ({ id, type, timestamp, tokens }, _, since) => {
      if (type !== 'gemini' || tokens === undefined || textOf(timestamp) < since) return [];
      return [{ kind: 'usage', of: 'message', id: textOf(id), usage: parseGeminiUsage(fieldsOf(tokens)) }];
    },
  },
};

/** Gemini CLI names it with each message, Codex with each turn. */
function modelIn({ type, model, payload }: Fields): string {
  return type === 'turn_context' ? textOf(fieldsOf(payload)['model']) : textOf(model);
}

function isCount({ payload }: Fields): boolean {
  return fieldsOf(payload)['type'] === 'token_count';
}

/** Codex counts an answer of the model after the tools that the answer asks for have run. */
function isUncounted(lines: readonly Fields[], { toolUse }: RecordHint): boolean {
  if (toolUse === undefined) return false;
  const asked = lines.findLastIndex(({ payload }) => fieldsOf(payload)['call_id'] === toolUse);
  return asked < 0 || lines.findLastIndex(isCount) < asked;
}

/** The path comes from a hook, which an agent can call: a walk through a whole disk would stop the supervisor, and with it every limit. */
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
