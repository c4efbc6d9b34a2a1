import { Screen, type View } from './screen.ts';

/** A part of the output, and its time. */
export interface Chunk {
  readonly atMs: number;
  readonly text: string;
}

interface Frame {
  readonly atMs: number;
  readonly view: View;
}

/** The frames, and the time at which the last one has been shown long enough. */
export interface Film {
  readonly frames: readonly Frame[];
  readonly durationMs: number;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/**
 * The screen's frames, paced for a reader: waits are shortened, printed lines are shown long enough to be read, and a
 * long text scrolls in parts.
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
/** The maximum for a repainted region, which only shows that time passes. */
const MAX_REPAINT_MS = 250;
const MIN_FRAME_MS = 40;
const LAST_FRAME_MS = 5000;
const COMMAND_MS = 800;
const LINE_MS = 80;
/** The number of lines that appear together. */
const LINES_PER_PART = 6;

function splitText(text: string): string[] {
  return text
    .split(/(?<=\u001B\[\?2026l)|(?<=(?:^|\n)\$ [^\n]*\n)|(?=\r\n\$ )/) // oxlint-disable-line no-control-regex
    .flatMap((part) => (isRepaint(part) ? [part] : (part.match(PARTS) ?? [])));
}

const PARTS = new RegExp(`(?:[^\\n]*\\n){${LINES_PER_PART}}|(?:[^\\n]*\\n)+[^\\n]*|[^\\n]+`, 'g');

/** The reading time of a part. Of a repainted region only the changes are read. */
function readingTime(part: string): number {
  if (isRepaint(part)) return 0;
  if (/^(?:\r\n)?\$ [^\n]*\n$/.test(part)) return COMMAND_MS;
  return (part.match(/\n/g)?.length ?? 0) * LINE_MS;
}

function isRepaint(part: string): boolean {
  return part.includes('\u001B[?2026');
}
