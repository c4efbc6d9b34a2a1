import { describe, expect, it } from 'vitest';
import { createProgress } from './verify.ts';

describe('progress', () => {
  it('is shown to people for long ledgers, once per percent, and then removed', () => {
    const { shown, io } = terminal(true);
    const progress = createProgress(io, 200_000);
    for (let done = 0; done <= 200_000; done += 500) progress.show(done);
    progress.clear();
    expect(shown).toHaveLength(102);
    expect(shown[50]).toBe('\rverifying: 50% (100000 of 200000 entries)');
    expect(shown.at(-1)).toBe('\r\u001b[K');
  });

  it('is not shown to programs, nor for short ledgers', () => {
    const [program, short] = [terminal(false), terminal(true)];
    const both = [createProgress(program.io, 200_000), createProgress(short.io, 100)];
    for (const progress of both) {
      progress.show(50);
      progress.clear();
    }
    expect([program.shown, short.shown]).toEqual([[], []]);
  });
});

function terminal(isTerminal: boolean): { shown: string[]; io: Parameters<typeof createProgress>[0] } {
  const shown: string[] = [];
  const io = {
    env: {},
    cwd: '/',
    isTerminal,
    out: () => {},
    err: (text: string) => {
      shown.push(text);
    },
    readInput: async () => new Uint8Array(0),
  };
  return { shown, io };
}
