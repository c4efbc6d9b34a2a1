import { describe, expect, it } from 'vitest';
import { type Chunk, type Film, takeFrames } from './frames.ts';

const SIZE = { columns: 40, rows: 10 };

function shownIn({ frames }: Film): string[] {
  return frames.map(({ view }) => view.lines.map((line) => line.map(({ char }) => char).join('')).join('|'));
}

function gaps(...chunks: Chunk[]): number[] {
  const { frames } = takeFrames(chunks, SIZE);
  return frames.map(({ atMs }, i) => atMs - (frames[i - 1]?.atMs ?? 0));
}

describe('takeFrames', () => {
  it('shows a synchronized update at once, even if it arrives in parts', () => {
    const film = takeFrames(
      [
        { atMs: 0, text: '\u001B[?2026ha\r\n' },
        { atMs: 5, text: 'b\u001B[?2026l' },
      ],
      SIZE,
    );
    expect(shownIn(film)).toEqual(['a|b']);
  });

  it('separates updates that arrive together', () => {
    const update = (text: string): string => `\u001B[?2026h\r\u001B[K${text}\u001B[?2026l`;
    expect(shownIn(takeFrames([{ atMs: 0, text: update('a') + update('b') }], SIZE))).toEqual(['a', 'b']);
  });

  it('shows a command long enough to read it before its output', () => {
    const [, , output = 0] = gaps({ atMs: 0, text: 'before\r\n\r\n$ baton demo\r\nafter\r\n' });
    expect(output).toBeGreaterThanOrEqual(500);
  });

  it('lets a long text scroll by in parts', () => {
    const film = takeFrames([{ atMs: 0, text: 'line\r\n'.repeat(30) }], SIZE);
    expect(film.frames.length).toBeGreaterThan(3);
    expect(film.frames.at(-1)?.view.top).toBe(21);
  });

  it('shortens waits, and repainted regions even more', () => {
    const [, wait = 0] = gaps({ atMs: 0, text: 'a' }, { atMs: 60_000, text: 'b' });
    const [, repaint = 0] = gaps({ atMs: 0, text: 'a' }, { atMs: 60_000, text: '\u001B[?2026hb\u001B[?2026l' });
    expect(wait).toBeLessThan(2000);
    expect(repaint).toBeLessThan(wait);
  });

  it('holds the last frame', () => {
    const { frames, durationMs } = takeFrames([{ atMs: 0, text: 'a' }], SIZE);
    expect(durationMs - (frames.at(-1)?.atMs ?? 0)).toBeGreaterThan(3000);
  });

  it('loses nothing of the output', () => {
    const text = 'a\r\n$ b\r\n\r\n$ c\r\nd e\r\n\r\n\r\nf'.repeat(5);
    const whole = takeFrames([{ atMs: 0, text }], SIZE);
    const bytes = takeFrames(
      Array.from(text, (char, i) => ({ atMs: i, text: char })),
      SIZE,
    );
    expect(shownIn(whole).at(-1)).toBe(shownIn(bytes).at(-1));
  });
});
