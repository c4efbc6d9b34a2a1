import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClaudeLine } from './claude.ts';
import { recorded, STRANGE_LINES } from './fixture.cases.ts';

const AT = Date.parse('2026-01-01T00:00:00Z');
const read = (name: string) => recorded('claude', name).flatMap((line) => parseClaudeLine(line, AT));

describe('events of Claude Code', () => {
  const message = (n: number) => ({
    kind: 'usage',
    of: 'message',
    id: `msg_${n}`,
    usage: { input: 100, output: 1, cacheRead: 20, cacheWrite: 0, costMillicents: null },
  });

  it('reads a conversation with a block and a tool', () => {
    expect(read('blocked')).toEqual([
      { kind: 'conversation', id: '00000000-0000-4000-8000-000000000001' },
      { kind: 'model', model: 'claude-sonnet-5' },
      { kind: 'words', text: 'I am done.\n' },
      message(1),
      { kind: 'tool-started', id: 'toolu_2', tool: 'Bash' },
      message(2),
      { kind: 'tool-ended', id: 'toolu_2', failed: false },
      { kind: 'words', text: 'Now I am.\n' },
      message(3),
      {
        kind: 'usage',
        of: 'turn',
        usage: { input: 300, output: 21, cacheRead: 60, cacheWrite: 0, costMillicents: expect.any(Number) },
      },
      { kind: 'turn-ended', failed: false },
    ]);
  });

  it.each([
    ['unauthorized', 'unauthorized'],
    ['out-of-credits', 'out_of_credits'],
    ['rate-limited', 'rate_limited'],
    ['overloaded', 'rate_limited'],
    ['no-internet', 'no_internet'],
  ])('knows the kind of %s', (name, error) => {
    const said = read(name);
    expect(said.find(({ kind }) => kind === 'error')).toMatchObject({ error, isRetrying: false });
    expect(said.filter(({ kind }) => kind === 'words')).toEqual([]);
    expect(said.at(-1)).toEqual({ kind: 'turn-ended', failed: true });
  });

  it('reports the end of a limit', () => {
    expect(read('rate-limited').find(({ kind }) => kind === 'error')).toMatchObject({
      resetAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
    });
    expect(read('retried').find(({ kind }) => kind === 'error')).toMatchObject({
      error: 'rate_limited',
      resetAt: '2026-01-01T00:00:01.000Z',
      isRetrying: true,
    });
  });

  it('reports a refused tool', () => {
    expect(read('permission')).toContainEqual(expect.objectContaining({ kind: 'permission', tool: 'Write' }));
  });

  it("does not take text of a tool or subagent for the agent's, nor prose for an error", () => {
    expect(read('words-about-errors').filter(({ kind }) => kind === 'error')).toEqual([]);
    const subagent = {
      type: 'assistant',
      parent_tool_use_id: 't',
      message: { content: [{ type: 'text', text: 'x' }] },
    };
    expect(parseClaudeLine(JSON.stringify(subagent), AT)).toEqual([]);
  });

  it('ignores unknown lines', () => {
    expect(STRANGE_LINES.flatMap((line) => parseClaudeLine(line, AT))).toEqual([]);
    const types = fc.constantFrom('system', 'assistant', 'user', 'result', 'control_request', 'rate_limit_event');
    const lines = fc.record({
      type: types,
      subtype: fc.constantFrom('init', 'api_retry', 'x'),
      message: fc.jsonValue(),
    });
    fc.assert(fc.property(lines, (line) => void parseClaudeLine(JSON.stringify(line), AT)));
  });
});
