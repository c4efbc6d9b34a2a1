import type { StreamFormat } from '../../protocol/run-plan.ts';
import { renderDollars } from '../../protocol/price.ts';
import { STREAMS } from '../reader.ts';
import { parseJsonFields, type StreamEvent, type TokenUsage } from '../stream-event.ts';
import { acpContentReader } from './acp.ts';
import { readClaudeContent } from './claude.ts';
import { codexContentReader } from './codex.ts';
import type { Content, ContentOfLine, ReadContent } from './content.ts';
import { readGeminiContent } from './gemini.ts';

/** A line for people. `kind` determines how it is shown; `raw` is an unparsed line of the log. */
export interface ReadableLine {
  readonly kind: 'text' | 'dim' | 'tool' | 'result' | 'bad' | 'call' | 'raw';
  readonly text: string;
}

/** Creates a reader for each log, because readers remember lines. */
const CONTENT_READERS: Readonly<Record<StreamFormat, () => ReadContent>> = {
  'stream-json': () => readClaudeContent,
  codex: codexContentReader,
  gemini: () => readGeminiContent,
  acp: acpContentReader,
};

export interface ReadableLogOptions {
  /** Makes a line safe to print. Every line passes through it before it is cut. */
  readonly clean: (line: string) => string;
}

/** Renders the lines of a log in order. A text that the client sends in pieces is held until its line is complete. */
export class ReadableLog {
  readonly #format: StreamFormat | null;
  readonly #clean: (line: string) => string;
  readonly #read: ReadContent | null;
  #piece = '';
  /** The last error or refusal, to skip repetitions by the client. */
  #problem = '';
  #conversation = '';

  constructor(format: StreamFormat | 'text', { clean }: ReadableLogOptions) {
    this.#format = format === 'text' ? null : format;
    this.#clean = clean;
    this.#read = this.#format === null ? null : CONTENT_READERS[this.#format]();
  }

  push(line: string): ReadableLine[] {
    const fields = this.#format === null ? null : parseJsonFields(line);
    if (fields === null || this.#format === null || this.#read === null) return [...this.end(), this.#raw(line)];
    const found = this.#read(fields);
    const events = STREAMS[this.#format].readLine(line, 0);
    if (found === null && events.length === 0) return [...this.end(), this.#raw(line)];
    return [...this.#renderContent(found), ...this.#renderEvents(events)];
  }

  /** Returns the rest of a text whose line is not complete. */
  end(): ReadableLine[] {
    const rest = this.#piece;
    this.#piece = '';
    return rest === '' ? [] : this.#lines('text', rest);
  }

  #raw(line: string): ReadableLine {
    // A client's line of this length is only a part of a line, cut from the middle of the log.
    const isPart = this.#format !== null && line.length > MAX_RAW_CHARACTERS;
    return { kind: 'raw', text: isPart ? this.#cut(line) : this.#clean(line) };
  }

  #renderContent(found: ContentOfLine | null): ReadableLine[] {
    const lines = (found?.content ?? []).flatMap((each) => this.#renderOne(each));
    return found?.isNested === true ? lines.map(({ kind, text }) => ({ kind, text: `│ ${text}` })) : lines;
  }

  #renderOne(content: Content): ReadableLine[] {
    if (content.kind === 'text' && content.isPiece === true) return this.#addPiece(content.text);
    const before = this.end();
    return [...before, ...this.#renderWhole(content)];
  }

  #addPiece(text: string): ReadableLine[] {
    const end = text.lastIndexOf('\n') + 1;
    const whole = end === 0 ? '' : this.#piece + text.slice(0, end);
    this.#piece = end === 0 ? this.#piece + text : text.slice(end);
    return end === 0 ? [] : this.#lines('text', whole);
  }

  #renderWhole(content: Content): ReadableLine[] {
    switch (content.kind) {
      case 'text':
        this.#problem = '';
        return this.#lines('text', content.text);
      case 'thinking':
        return this.#folded('dim', content.text, { first: '· ', head: 3 });
      case 'input':
        return this.#folded('dim', content.text, { first: '> ', next: '> ', head: 5 });
      case 'tool':
        return [
          { kind: 'tool', text: `▸ ${this.#onOneLine(content.tool)}  ${this.#onOneLine(content.what)}`.trimEnd() },
        ];
      case 'result':
        return content.failed
          ? this.#failed(content.text)
          : this.#folded('result', content.text, { first: '    ', next: '    ', head: 5 });
      case 'note':
        return this.#folded('dim', content.text, { first: '· ', head: 3 });
      case 'problem':
        return this.#reportOnce('bad', content.text, '✗ ');
    }
  }

  /** Shows the end of a failed command's output, which contains the reason. */
  #failed(text: string): ReadableLine[] {
    if (this.#problem !== '' && text.trim() === this.#problem) return [];
    return this.#folded('bad', text.trim() === '' ? 'failed' : text, { first: '  ✗ ', next: '    ', head: 5, tail: 5 });
  }

  #renderEvents(events: readonly StreamEvent[]): ReadableLine[] {
    const failed = events.some((event) => event.kind === 'turn-ended' && event.failed);
    return events.flatMap((event): ReadableLine[] => {
      switch (event.kind) {
        case 'conversation':
          return this.#renderStart(events);
        case 'permission':
          return this.#reportOnce('call', event.what, `! needs permission: ${this.#onOneLine(event.tool)}  `);
        case 'error': {
          const kind = event.error === null ? '' : `${event.error}: `;
          const until = event.isRetrying || event.resetAt === null ? '' : ` (until ${event.resetAt})`;
          const retries = event.isRetrying ? ' (the client retries)' : '';
          return this.#reportOnce('bad', `${event.message}${until}${retries}`, `✗ ${kind}`);
        }
        case 'turn-ended':
          return [...this.end(), this.#renderTurn(events, failed)];
        case 'usage':
          // Shows the usage of a turn that continues with another prompt. Otherwise the line about the turn's end shows
          // it.
          return event.of !== 'turn' || isEmpty(event.usage) || events.length > 1
            ? []
            : [...this.end(), { kind: 'dim', text: `─ used: ${describeUsage(event.usage)}` }];
        default:
          return [];
      }
    });
  }

  /** Renders these events once, because a client repeats them in each turn. */
  #renderStart(events: readonly StreamEvent[]): ReadableLine[] {
    const models = events.flatMap((event) => (event.kind === 'model' ? [event.model] : []));
    const conversations = events.flatMap((event) => (event.kind === 'conversation' ? [event.id] : []));
    const parts = [...models, ...conversations.map((id) => `conversation ${id}`)];
    const text = `─ ${this.#onOneLine(parts.join(', '))}`;
    if (text === this.#conversation) return [];
    this.#conversation = text;
    return [...this.end(), { kind: 'dim', text }];
  }

  #renderTurn(events: readonly StreamEvent[], failed: boolean): ReadableLine {
    const [used] = events.flatMap((event) => (event.kind === 'usage' ? [event] : []));
    const total = used?.of === 'conversation' ? 'so far ' : '';
    const usage = used === undefined || isEmpty(used.usage) ? '' : `: ${total}${describeUsage(used.usage)}`;
    return { kind: failed ? 'bad' : 'dim', text: failed ? `✗ turn failed${usage}` : `─ turn ended${usage}` };
  }

  #reportOnce(kind: ReadableLine['kind'], text: string, first: string): ReadableLine[] {
    if (text.trim() === this.#problem) return [];
    this.#problem = text.trim();
    return [...this.end(), ...this.#folded(kind, text, { first, next: '  ', head: 10 })];
  }

  #lines(kind: ReadableLine['kind'], text: string): ReadableLine[] {
    return linesOf(text).map((line) => ({ kind, text: this.#clean(line) }));
  }

  #folded(kind: ReadableLine['kind'], text: string, { first, next = '  ', head, tail = 0 }: Fold): ReadableLine[] {
    const all = linesOf(text);
    if (text.trim() === '') return [];
    // Showing one more line takes no more room than a line with the count.
    const isWhole = all.length <= head + tail + 1;
    const end = tail === 0 ? [] : all.slice(-tail);
    const shown = isWhole ? all : [...all.slice(0, head), null, ...end];
    const left = all.length - head - tail;
    return shown.map((line, i) => {
      const prefix = i === 0 ? first : next;
      if (line === null) return { kind, text: `${next}… ${left} more lines` };
      return { kind, text: `${prefix}${this.#cut(line)}`.trimEnd() };
    });
  }

  /** The first line, and the number of further lines. */
  #onOneLine(text: string): string {
    const [first = '', ...more] = text.trim().split('\n');
    return more.length === 0 ? this.#cut(first) : `${this.#cut(first)} … ${more.length} more lines`;
  }

  /** Cleans before cutting, because a cut escape sequence or token would not be recognised. */
  #cut(line: string): string {
    const clean = this.#clean(line);
    if (clean.length <= MAX_CHARACTERS) return clean;
    const end = clean.charCodeAt(MAX_CHARACTERS - 1) >>> 10 === HIGH_SURROGATE ? MAX_CHARACTERS - 1 : MAX_CHARACTERS;
    return `${clean.slice(0, end)}… ${clean.length - end} more characters`;
  }
}

interface Fold {
  readonly first: string;
  readonly next?: string;
  readonly head: number;
  readonly tail?: number;
}

const MAX_CHARACTERS = 400;
const MAX_RAW_CHARACTERS = 65_536;
const HIGH_SURROGATE = 0xd800 >>> 10;

/** Reports whether there is no usage: the turn failed at once, or the client does not report it. */
function isEmpty({ input, output, cacheRead }: TokenUsage): boolean {
  return input + output + cacheRead === 0;
}

function describeUsage({ input, output, cacheRead, costMillicents }: TokenUsage): string {
  const cost = costMillicents === null ? '' : `, ${renderDollars(costMillicents)}`;
  return `${input} tokens in, ${output} out, ${cacheRead} cached${cost}`;
}

/**
 * Splits text into lines, without empty lines at the ends. A pattern would take quadratic time for a long run of line
 * breaks.
 */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  let start = 0;
  let end = lines.length;
  while (end > 1 && lines[end - 1]?.trim() === '') end -= 1;
  while (start < end - 1 && lines[start]?.trim() === '') start += 1;
  return lines.slice(start, end);
}
