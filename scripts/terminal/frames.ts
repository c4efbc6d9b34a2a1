import { Screen, type View } from './screen.ts';

/** A part of the output, and when it came. */
export interface Chunk {
  readonly atMs: number;
  readonly text: string;
}

interface Frame {
  readonly atMs: number;
  readonly view: View;
}

/** Frames, and the time at which the last one has been shown for long enough. */
export interface Film {
  readonly frames: readonly Frame[];
  readonly durationMs: number;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/**
 * What the screen shows, paced for a reader: waiting is cut short, printed lines get time to be read, and a long text scrolls by in parts.
 */
export function takeFrames(chunks: readonly Chunk[], size: Size): Film {
  const screen = new Screen(size);
  const frames: Frame[] = [];
  let atMs = 0;
  let readMs = 0;
  let cameMs = chunks[0]?.atMs ?? 0;
  for (const { atMs: comesMs, text } of chunks)
    for (const part of splitText(text)) {
      screen.write(part);
      if (screen.isUpdating) continue;
      const longestMs = isRepaint(part) ? MAX_REPAINT_MS : MAX_IDLE_MS;
      atMs += Math.max(readMs, Math.min(comesMs - cameMs, longestMs), MIN_FRAME_MS);
      frames.push({ atMs: Math.round(atMs), view: screen.view });
      cameMs = comesMs;
      readMs = readingTime(part);
    }
  return { frames, durationMs: Math.round(atMs + LAST_FRAME_MS) };
}

const MAX_IDLE_MS = 1200;
/** A region that is repainted shows that time passes. */
const MAX_REPAINT_MS = 250;
const MIN_FRAME_MS = 40;
const LAST_FRAME_MS = 5000;
const COMMAND_MS = 800;
const LINE_MS = 80;
/** Lines that appear together. */
const LINES_PER_PART = 6;

function splitText(text: string): string[] {
  return text
    .split(/(?<=\u001B\[\?2026l)|(?<=(?:^|\n)\$ [^\n]*\n)|(?=\r\n\$ )/) // oxlint-disable-line no-control-regex
    .flatMap((part) => (isRepaint(part) ? [part] : (part.match(PARTS) ?? [])));
}

const PARTS = new RegExp(`(?:[^\\n]*\\n){${LINES_PER_PART}}|(?:[^\\n]*\\n)+[^\\n]*|[^\\n]+`, 'g');

/** A repainted region is not read anew: only its changes are. */
function readingTime(part: string): number {
  if (isRepaint(part)) return 0;
  if (/^(?:\r\n)?\$ [^\n]*\n$/.test(part)) return COMMAND_MS;
  return (part.match(/\n/g)?.length ?? 0) * LINE_MS;
}

function isRepaint(part: string): boolean {
  return part.includes('\u001B[?2026');
}
