import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recorded, STRANGE_LINES } from './fixture.cases.ts';
import { findGeminiExitError, parseGeminiLine } from './gemini.ts';

const AT = Date.parse('2026-01-01T00:00:00Z');
const read = (name: string) => recorded('gemini', name).flatMap((line) => parseGeminiLine(line));

describe('events of Gemini CLI', () => {
  it('reads a conversation with a block and a tool', () => {
    expect(read('blocked')).toEqual([
      { kind: 'conversation', id: '00000000-0000-4000-8000-000000000001' },
      { kind: 'model', model: 'gemini-2.5-pro' },
      { kind: 'words', text: 'I am done.' },
      { kind: 'tool-started', id: 'run_shell_command__call_2', tool: 'run_shell_command' },
      { kind: 'tool-ended', id: 'run_shell_command__call_2', failed: false },
      { kind: 'words', text: 'Now I am.' },
      {
        kind: 'usage',
        of: 'turn',
        usage: { input: 240, output: 21, cacheRead: 60, cacheWrite: 0, costMillicents: null },
      },
      { kind: 'turn-ended', failed: false },
    ]);
  });

  it.each([
    ['unauthorized', 'unauthorized'],
    ['out-of-credits', 'out_of_credits'],
    ['no-internet', 'no_internet'],
  ])('knows the kind of %s', (name, error) => {
    expect(read(name).find(({ kind }) => kind === 'error')).toMatchObject({ error });
    expect(read(name).at(-1)).toEqual({ kind: 'turn-ended', failed: true });
  });

  it('knows a wrong key by its reason', () => {
    const error = { code: 400, message: 'API key not valid.', details: [{ reason: 'API_KEY_INVALID' }] };
    const line = { type: 'result', status: 'error', error: { message: `[API Error: ${JSON.stringify({ error })}]` } };
    expect(parseGeminiLine(JSON.stringify(line))).toContainEqual(expect.objectContaining({ error: 'unauthorized' }));
  });

  it('knows a limit by the exit code, and when it ends', () => {
    const said = read('rate-limited').find((each) => each.kind === 'error');
    expect(said).toMatchObject({ error: null });
    expect(findGeminiExitError(429 % 256, said?.message ?? '', AT)).toMatchObject({
      error: 'rate_limited',
      resetAt: expect.stringMatching(/^2026-01-01T0[01]:/),
    });
    expect(findGeminiExitError(429 % 256, 'the words Suggested retry after 5s. in a text', AT)).toMatchObject({
      resetAt: null,
    });
    for (const code of [0, 1, 41, 42, 55]) expect(findGeminiExitError(code, '429', AT)).toBeNull();
  });

  it('does not take prose for an error', () => {
    expect(read('words-about-errors').filter(({ kind }) => kind === 'error')).toEqual([]);
  });

  it('ignores unknown lines', () => {
    expect(STRANGE_LINES.flatMap((line) => parseGeminiLine(line))).toEqual([]);
    const types = fc.constantFrom('init', 'message', 'tool_use', 'tool_result', 'result', 'error');
    const lines = fc.record({ type: types, error: fc.jsonValue(), stats: fc.jsonValue(), content: fc.jsonValue() });
    fc.assert(fc.property(lines, (line) => void parseGeminiLine(JSON.stringify(line))));
  });
});
