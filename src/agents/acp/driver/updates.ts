import { createHash } from 'node:crypto';
import { readText } from '../../../acp/messages.ts';
import { type Fields, fieldsOf, isObject, textOf } from '../../../protocol/shape/read-unknown.ts';
import type { PrintLine } from './print.ts';

type Chunk = 'agent_message_chunk' | 'agent_thought_chunk';

/** Prints what the agent reports. Text arrives word by word, so its pieces are joined to keep the log readable. */
export class UpdateLog {
  readonly #print: PrintLine;
  readonly #now: () => number;
  #chunk: Chunk | undefined;
  #text = '';
  #printedMs = -Infinity;
  /** The agent's text since its last tool call or prompt. If the agent stops now, this is its last message. */
  #words = '';
  /** What is known about each tool call. `about` is a hash, because an input may be a whole file. */
  readonly #tools = new Map<string, { readonly about: string; readonly isOver: boolean }>();

  constructor(print: PrintLine, now: () => number) {
    this.#print = print;
    this.#now = now;
  }

  get lastWords(): string {
    return this.#words;
  }

  onPrompt(text: string): void {
    this.flush();
    this.#words = '';
    this.#printNow({ type: 'prompt', text: shorten(text) });
  }

  /** Returns whether the update starts a tool call. */
  onUpdate(update: Fields): boolean {
    const kind = textOf(update['sessionUpdate']);
    if (kind === 'agent_message_chunk' || kind === 'agent_thought_chunk')
      this.#onChunk(kind, readText(update['content']));
    else if (kind === 'tool_call' || kind === 'tool_call_update') return this.#onTool(update);
    else if (kind === 'plan' || kind === 'current_mode_update') this.#printUpdate(shortenUpdate(update));
    else this.#showActivity();
    return false;
  }

  /** Ends tool calls that the agent left open. The supervisor would otherwise count them as running in later turns. */
  onTurnEnd(): void {
    this.flush();
    for (const [toolCallId, { isOver }] of this.#tools) {
      if (isOver) continue;
      const update = { sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' };
      this.#printNow({ type: 'update', update });
    }
    this.#tools.clear();
  }

  /** Prints an incomplete text. */
  flush(): void {
    if (this.#text !== '') this.#printChunk(this.#text.endsWith('\n') ? this.#text : `${this.#text}\n`);
    this.#chunk = undefined;
  }

  #onChunk(chunk: Chunk, text: string): void {
    if (text === '') return;
    if (this.#chunk !== chunk) this.flush();
    this.#chunk = chunk;
    this.#text += text;
    if (chunk === 'agent_message_chunk') this.#words = (this.#words + text).slice(-MAX_WORDS);
    const end = this.#text.lastIndexOf('\n') + 1;
    const isDue = this.#now() > this.#printedMs + PIECE_MS || this.#text.length > MAX_PIECE;
    if (end > 0 && isDue) this.#printChunk(this.#text.slice(0, end), this.#text.slice(end));
    else if (this.#text.length > MAX_PIECE) this.#printChunk(this.#text);
  }

  #printChunk(whole: string, rest = ''): void {
    const sessionUpdate = this.#chunk ?? 'agent_message_chunk';
    for (let from = 0; from < whole.length; from += MAX_TEXT) {
      const text = whole.slice(from, from + MAX_TEXT);
      this.#printNow({ type: 'update', update: { sessionUpdate, content: { type: 'text', text } } });
    }
    this.#text = rest;
  }

  /** Prints only what changed about the call, because agents repeat the whole output of a tool while it runs. */
  #onTool(update: Fields): boolean {
    const id = textOf(update['toolCallId']).slice(0, MAX_ID);
    const status = textOf(update['status']);
    const known = this.#tools.get(id);
    const isOver = status === 'completed' || status === 'failed';
    const about = hashOf([update['title'], update['kind'], update['rawInput'], isOver ? status : '']);
    // Some agents reuse an id.
    const isFirst = known === undefined || (known.isOver && update['sessionUpdate'] === 'tool_call');
    if (known !== undefined && (about === known.about || about === NOTHING_NEW)) {
      this.#showActivity();
      return false;
    }
    if (this.#tools.size >= MAX_TOOLS) this.#tools.clear();
    this.#tools.set(id, { about, isOver: isOver || (known?.isOver === true && !isFirst) });
    this.#words = '';
    const sessionUpdate = isFirst ? 'tool_call' : 'tool_call_update';
    const { content: _, rawOutput: __, ...rest } = update;
    this.#printUpdate(shortenUpdate({ ...(isOver || isFirst ? update : rest), sessionUpdate, toolCallId: id }));
    return isFirst;
  }

  #printUpdate(update: Fields): void {
    this.flush();
    this.#printNow({ type: 'update', update });
  }

  /** Prints a sign of activity, because the supervisor measures silence by the output. */
  #showActivity(): void {
    if (this.#now() > this.#printedMs + ACTIVITY_MS) this.#printNow({ type: 'activity' });
  }

  #printNow(line: Parameters<PrintLine>[0]): void {
    this.#printedMs = this.#now();
    this.#print(line);
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

const NOTHING_NEW = hashOf([undefined, undefined, undefined, '']);
const PIECE_MS = 200;
const MAX_PIECE = 8192;
const MAX_WORDS = 131_072;
const MAX_TOOLS = 1000;
const MAX_ID = 200;
const ACTIVITY_MS = 5000;

/**
 * Returns the update with long texts cut: a diff has whole files, and a line must stay below the supervisor's limit.
 */
export function shortenUpdate(update: Fields): Fields {
  const short = fieldsOf(shortenValue(update, 0));
  if (JSON.stringify(short).length <= MAX_UPDATE) return short;
  // If there are many long texts, keeps the top-level ones, which identify the call.
  return Object.fromEntries(Object.entries(short).filter(([, value]) => typeof value === 'string'));
}

function shortenValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shorten(value);
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.slice(0, MAX_FIELDS).map((each: unknown) => shortenValue(each, depth + 1));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).slice(0, MAX_FIELDS);
  return Object.fromEntries(entries.map(([name, each]) => [name.slice(0, MAX_ID), shortenValue(each, depth + 1)]));
}

function shorten(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  return `${text.slice(0, MAX_TEXT / 2)}\n… ${text.length - MAX_TEXT} characters were cut here …\n${text.slice(-MAX_TEXT / 2)}`;
}

const MAX_TEXT = 32_768;
const MAX_FIELDS = 100;
const MAX_DEPTH = 12;
const MAX_UPDATE = 1_000_000;
