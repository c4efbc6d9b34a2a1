import { describe, expect, it } from 'vitest';
import { logsOf, renderOutput } from './pipelines.ts';

describe('what a step printed', () => {
  it('is below it, safe for a terminal', () => {
    expect(renderOutput('to-stdout\nto-\u001B[31mstderr\r\n', '    ', '/state/output.log')).toEqual([
      '    to-stdout',
      '    to-\\u001b[31mstderr',
      '    full output: /state/output.log',
    ]);
  });

  it('is its last ten lines, each of bounded length', () => {
    const output = Array.from({ length: 12 }, (_, i) => `line ${i + 1}`).join('\n');
    const shown = renderOutput(output, '', null);
    expect(shown).toHaveLength(11);
    expect([shown[0], shown[1], shown.at(-1)]).toEqual(['…', 'line 3', 'line 12']);
    expect(renderOutput('x'.repeat(4000), '', null)[0]).toBe(`${'x'.repeat(300)}…`);
  });

  it('may be empty', () => {
    expect(renderOutput('', '  ', null)).toEqual([]);
    expect(renderOutput(' \n', '  ', 'here')).toEqual(['  full output: here']);
  });

  it('is shown by a command for an agent', () => {
    expect(logsOf('5d0e7b41-1111-4111-8111-111111111111')).toBe('baton agent logs 5d0e7b41');
    expect(logsOf(null)).toBeNull();
  });
});
