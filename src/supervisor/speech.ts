import { findSignal, type Found } from '../protocol/find-signals.ts';
import { SignalWatch } from './signal-watch.ts';

/** What can be heard in an agent's output, besides its words. */
export interface Listener {
  /** It used a tool: it makes progress. */
  onToolCall(): void;
  /** Its turn is over; it waits for the next message. */
  onTurnEnd(isError: boolean): void;
  /** Its own id of the conversation. */
  onConversation(id: string): void;
  /** Something that it said itself. */
  onWords(text: string): void;
}

/** Reads what a process prints, piece by piece, for what the agent itself says in it. */
export interface Speech {
  push(chunk: Uint8Array): void;
  /** The turn or the process has ended: only now does an exit signal in it count, and of several the last. */
  endTurn(): Found;
}

/** Plain output: all of it is the agent's. */
export function hearText(): Speech {
  const watch = new SignalWatch();
  return { push: (chunk) => watch.push(chunk), endTurn: () => watch.end() };
}

/**
 * A stream of JSON lines as Claude Code prints them. Only the agent's own words count: a signal in what a tool printed, or in what it was
 * told, is somebody else's text.
 */
export function hearStream(listener: Listener): Speech {
  const watch = new SignalWatch();
  const lines = splitLines((line) => {
    const said = parseObject(line);
    if (said === undefined || isSubagent(said)) return;
    if (said['type'] === 'assistant') hearAssistant(said, (text) => watch.push(Buffer.from(text)), listener);
    else if (said['type'] === 'result') listener.onTurnEnd(said['is_error'] === true);
    else if (said['type'] === 'system' && said['subtype'] === 'init' && typeof said['session_id'] === 'string')
      listener.onConversation(said['session_id']);
  });
  return { push: lines, endTurn: () => watch.end() };
}

/** The hook's own copy of the last words may be there before the pipe has brought them. */
export function findInLastWords(words: string | undefined, found: Found): Found {
  if (words === undefined) return found;
  const last = findSignal(words);
  return last.kind === 'none' ? found : last;
}

function hearAssistant(said: Fields, push: (text: string) => void, listener: Listener): void {
  const message = fieldsOf(said['message']);
  const content = message?.['content'];
  if (!Array.isArray(content)) return;
  for (const block of content) {
    const fields = fieldsOf(block);
    if (fields?.['type'] === 'tool_use') listener.onToolCall();
    if (fields?.['type'] !== 'text' || typeof fields['text'] !== 'string') continue;
    push(`${fields['text']}\n`);
    listener.onWords(fields['text']);
  }
}

/** What a subagent says is a tool's result to the agent itself. */
function isSubagent(said: Fields): boolean {
  return typeof said['parent_tool_use_id'] === 'string';
}

/** Calls for each whole line. A line longer than any message is passed over; memory stays bounded. */
function splitLines(onLine: (line: string) => void): (chunk: Uint8Array) => void {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end));
      bytes += end - from;
      if (bytes <= MAX_LINE_BYTES && bytes > 0) onLine(Buffer.concat(pieces).toString('utf8'));
      pieces = [];
      bytes = 0;
      from = end + 1;
    }
    if (from === chunk.length) return;
    bytes += chunk.length - from;
    if (bytes > MAX_LINE_BYTES) pieces = [];
    else pieces.push(chunk.subarray(from));
  };
}

const MAX_LINE_BYTES = 4 * 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;

function parseObject(line: string): Fields | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  // What was just parsed from JSON has names and values, and nothing else.
  return isObject ? (value as Fields) : undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
