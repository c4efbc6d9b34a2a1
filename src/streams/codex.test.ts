import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCodexLine, parseCodexRollout } from './codex.ts';
import { recorded, STRANGE_LINES } from './fixture.cases.ts';

const read = (name: string) => recorded('codex', name).flatMap((line) => parseCodexLine(line));
const readEnd = (name: string) => parseCodexRollout(recorded('codex', `${name}.record`));

describe('events of Codex', () => {
  it('reads a conversation with a block and a tool', () => {
    expect(read('blocked')).toEqual([
      { kind: 'conversation', id: '00000000-0000-4000-8000-000000000001' },
      { kind: 'words', text: 'I am done.\n' },
      { kind: 'tool-started', id: 'item_1', tool: 'command_execution' },
      { kind: 'tool-ended', id: 'item_1', failed: false },
      { kind: 'words', text: 'Now I am.\n' },
      {
        kind: 'usage',
        of: 'conversation',
        usage: { input: 240, output: 21, cacheRead: 60, cacheWrite: 0, costMillicents: null },
      },
      { kind: 'turn-ended', failed: false },
    ]);
    expect(readEnd('blocked')).toEqual([{ kind: 'model', model: 'gpt-5.5-codex' }]);
  });

  it('continues the count over a resume', () => {
    expect(read('resumed').find(({ kind }) => kind === 'usage')).toMatchObject({ usage: { input: 160, output: 14 } });
  });

  it.each([
    ['unauthorized', 'unauthorized'],
    ['out-of-credits', 'out_of_credits'],
    ['rate-limited', 'rate_limited'],
    ['no-internet', 'no_internet'],
  ])('knows the kind of %s from its own record, not from its prose', (name, error) => {
    expect(read(name).find(({ kind }) => kind === 'error')).toMatchObject({ error: null });
    expect(read(name).at(-1)).toEqual({ kind: 'turn-ended', failed: true });
    expect(readEnd(name).find(({ kind }) => kind === 'error')).toMatchObject({ error });
  });

  it('reports the end of a limit: of those reached, the last', () => {
    const limits = (primary: number, secondary: number) => ({
      primary: { used_percent: primary, resets_at: 1_800_000_000 },
      secondary: { used_percent: secondary, resets_at: 1_800_600_000 },
    });
    const end = (primary: number, secondary: number) =>
      parseCodexRollout([
        JSON.stringify({
          type: 'event_msg',
          payload: { type: 'token_count', rate_limits: limits(primary, secondary) },
        }),
        JSON.stringify({
          type: 'event_msg',
          payload: { type: 'task_complete', error: { codex_error_info: 'usage_limit_exceeded' } },
        }),
      ]);
    expect(end(100, 40)).toMatchObject([{ resetAt: '2027-01-15T08:00:00.000Z' }]);
    expect(end(100, 100)).toMatchObject([{ resetAt: '2027-01-22T06:40:00.000Z' }]);
    expect(end(10, 10)).toMatchObject([{ error: 'rate_limited', resetAt: null }]);
    expect(readEnd('rate-limited').find(({ kind }) => kind === 'error')).toMatchObject({ resetAt: expect.any(String) });
  });

  it('takes neither prose nor a recovered turn for an error', () => {
    expect(
      [...read('words-about-errors'), ...readEnd('words-about-errors')].filter(({ kind }) => kind === 'error'),
    ).toEqual([]);
    const mended = [...recorded('codex', 'unauthorized.record'), ...recorded('codex', 'blocked.record')];
    expect(parseCodexRollout(mended).filter(({ kind }) => kind === 'error')).toEqual([]);
  });

  it('ignores unknown lines', () => {
    expect(STRANGE_LINES.flatMap((line) => parseCodexLine(line))).toEqual([]);
    expect(parseCodexRollout(STRANGE_LINES)).toEqual([]);
    const types = fc.constantFrom(
      'item.started',
      'item.completed',
      'turn.completed',
      'turn.failed',
      'event_msg',
      'turn_context',
    );
    const lines = fc.record({ type: types, item: fc.jsonValue(), usage: fc.jsonValue(), payload: fc.jsonValue() });
    fc.assert(
      fc.property(lines, (line) => {
        parseCodexLine(JSON.stringify(line));
        parseCodexRollout([JSON.stringify(line)]);
      }),
    );
  });
});
