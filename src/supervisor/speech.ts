import { findSignal, type Found } from '../protocol/find-signals.ts';
import type { Reader } from '../streams/reader.ts';
import type { Said } from '../streams/said.ts';
import { SignalWatch } from './signal-watch.ts';

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
 * A stream of JSON lines, as the client prints them. Only the agent's own words count: a signal in what a tool printed, or in what it was
 * told, is somebody else's text.
 */
export function hearStream({ readLine }: Reader, onSaid: (said: Said) => void): Speech {
  const watch = new SignalWatch();
  const lines = splitLines((line) => {
    for (const said of readLine(line, Date.now())) {
      if (said.kind === 'words') watch.push(Buffer.from(said.text));
      onSaid(said);
    }
  });
  return { push: lines, endTurn: () => watch.end() };
}

/** The hook's own copy of the last words may be there before the pipe has brought them. */
export function findInLastWords(words: string | undefined, found: Found): Found {
  if (words === undefined) return found;
  const last = findSignal(words);
  return last.kind === 'none' ? found : last;
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
