import { CLOSING_CHARACTERS, findClosingSignal, type ClosingSignal } from '../../protocol/closing-signal.ts';
import { findSignal } from '../../protocol/find-signals.ts';
import type { StreamReader } from '../../streams/reader.ts';
import type { StreamEvent } from '../../streams/stream-event.ts';
import { OutputSignalFinder } from './signal-watch.ts';

/** Reads what a process prints, piece by piece, for exit signals in the agent's own words. */
export interface SignalScanner {
  push(chunk: Uint8Array): void;
  /**
   * The turn or the process has ended: only now does an exit signal count. `lastWords` is the client's own copy of the last message, which
   * its hook may bring before the pipe does.
   */
  endTurn(lastWords?: string): ClosingSignal;
}

/** Plain output: all of it is the agent's, and the last complete signal counts. */
export function scanText(): SignalScanner {
  const watch = new OutputSignalFinder();
  return {
    push: (chunk) => watch.push(chunk),
    endTurn: (lastWords = '') => {
      const [printed, last] = [watch.end(), findSignal(lastWords)];
      return last.kind === 'none' ? printed : last;
    },
  };
}

/**
 * A stream of JSON lines, as the client prints them. Only the agent's own words count, not the output of a tool or a message to the agent;
 * and of these only a signal that ends the last message of the turn.
 */
export function scanStream({ readLine }: StreamReader, onSaid: (said: StreamEvent) => void): SignalScanner {
  const watch = new OutputSignalFinder();
  const closing = new LastMessage();
  const lines = splitLines((line) => {
    for (const said of readLine(line, Date.now())) {
      if (said.kind === 'words') {
        watch.push(Buffer.from(said.text));
        closing.push(said.text);
      }
      if (said.kind === 'tool-started') closing.clear();
      onSaid(said);
    }
  });
  return {
    push: lines,
    endTurn: (lastWords = '') => {
      const found = findClosingSignal(lastWords.trim() === '' ? closing.text : lastWords);
      const hasNamedOne = watch.end().kind !== 'none';
      closing.clear();
      return found.kind === 'none' && hasNamedOne ? { kind: 'early' } : found;
    },
  };
}

/** The end of what the agent wrote since it last used a tool. A message comes whole or in pieces; a tool call ends it. */
class LastMessage {
  text = '';

  push(words: string): void {
    this.text += words;
    if (this.text.length > 2 * CLOSING_CHARACTERS) this.text = this.text.slice(-CLOSING_CHARACTERS);
  }

  clear(): void {
    this.text = '';
  }
}

/** Calls for each whole line. A line longer than any message is passed over; memory stays bounded. */
export function splitLines(onLine: (line: string) => void): (chunk: Uint8Array) => void {
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
