import { outputFormatOf } from '../../protocol/run-plan.ts';
import { ReadableLog, type ReadableLine } from '../../streams/readable/readable-log.ts';
import { safeLine } from '../../streams/readable/safe-line.ts';
import { colored, type Style } from '../status/paint.ts';

/** Turns the bytes of a log into lines that are safe to print. */
export interface LogView {
  push(bytes: Uint8Array): string[];
  /** Returns the last, incomplete line. */
  end(): string[];
}

/** The lines as the agent's client printed them. */
export function rawLogView(): LogView {
  const lines = new LogLines();
  return {
    push: (bytes) => lines.push(bytes).map(safeLine),
    end: () => lines.end().map(safeLine),
  };
}

/** For people: renders a client's JSON as text, tool calls and results. Other output is unchanged. */
export function readableLogView(agent: { readonly run: string }, colors: boolean): LogView {
  const format = outputFormatOf(agent.run);
  const lines = new LogLines(format === 'text' ? MAX_LINE : MAX_JSON_LINE);
  const log = new ReadableLog(format, { clean: safeLine });
  const paint = ({ kind, text }: ReadableLine): string => (colors ? colored(text, STYLES[kind]) : text);
  return {
    push: (bytes) => lines.push(bytes).flatMap((line) => log.push(line).map(paint)),
    end: () => [...lines.end().flatMap((line) => log.push(line)), ...log.end()].map(paint),
  };
}

const STYLES: Readonly<Record<ReadableLine['kind'], Style>> = {
  text: 'plain',
  raw: 'plain',
  dim: 'dim',
  result: 'dim',
  tool: 'busy',
  bad: 'bad',
  call: 'call',
};

/** Splits bytes into lines, in linear time even if a line arrives in many chunks. */
export class LogLines {
  readonly #decoder = new TextDecoder();
  readonly #maxCharacters: number;
  #pieces: string[] = [];
  #length = 0;

  constructor(maxCharacters = MAX_LINE) {
    this.#maxCharacters = maxCharacters;
  }

  push(bytes: Uint8Array): string[] {
    const [first = '', ...others] = this.#decoder.decode(bytes, { stream: true }).split('\n');
    const last = others.pop();
    this.#add(first);
    const lines = last === undefined ? [] : [this.#take(), ...others];
    if (last !== undefined) this.#add(last);
    // Returns a long line in parts, because it may never end.
    if (this.#length > this.#maxCharacters) lines.push(this.#take());
    return lines;
  }

  end(): string[] {
    this.#add(this.#decoder.decode());
    return this.#length === 0 ? [] : [this.#take()];
  }

  #add(piece: string): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  #take(): string {
    const line = this.#pieces.join('');
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}

const MAX_LINE = 65_536;
/** A line of a client's stream is read as a whole, because it may hold the content of a file. */
const MAX_JSON_LINE = 8 * 1024 * 1024;
