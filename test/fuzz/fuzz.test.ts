import { describe, expect, it } from 'vitest';
import type { TestedDialect } from './dialects.ts';
import { DIALECTS } from './dialects.ts';
import { fuzzDialect } from './fuzz-dialect.ts';

/** A short run; the long one is `npm run fuzz`. */
const OPTIONS = { seed: 20_260_126, count: 500, timeLimitMs: 10_000 };

describe.each(DIALECTS)('500 mutated messages of $name', (dialect) => {
  const report = fuzzDialect(dialect, DIALECTS, OPTIONS);

  it("violate no part of its parser's contract", () => {
    expect(report.failures).toEqual([]);
  });

  it('include some valid ones, but mostly invalid ones', () => {
    expect(report.accepted + report.refused).toBe(OPTIONS.count);
    expect(report.accepted).toBeGreaterThan(0);
    expect(report.refused).toBeGreaterThan(report.accepted);
  });
});

describe('the fuzzer', () => {
  const honest: TestedDialect = {
    name: 'honest',
    syntax: 'JSON',
    parse: () => ({ ok: true, value: 1 }),
    render: () => '1',
    samples: [{ file: 'a.json', text: '{"a":"b"}' }],
  };
  const problem = { code: 'c', message: 'm', path: '', line: 1, column: 1, hint: 'h' };

  it('gives the same run for the same seed', () => {
    const inputs = (seed: number) => {
      const seen: unknown[] = [];
      const parse = (input: string | Uint8Array) => {
        seen.push(input);
        return { ok: true, value: 1 } as const;
      };
      fuzzDialect({ ...honest, parse }, [honest], { ...OPTIONS, seed, count: 50 });
      return seen;
    };
    expect(inputs(7)).toEqual(inputs(7));
    expect(inputs(7)).not.toEqual(inputs(8));
  });

  const dishonest: readonly (readonly [what: string, dialect: TestedDialect])[] = [
    ['threw Error: x', { ...honest, parse: fail }],
    ['accepted, but its render is another', { ...honest, parse: (input) => ({ ok: true, value: [input] }) }],
    [
      'accepted, but its render is refused: m',
      { ...honest, parse: (input) => (input === '1' ? { ok: false, problems: [problem] } : { ok: true, value: 1 }) },
    ],
    ['threw Error: x', { ...honest, render: fail }],
    ['refused without a reason', refusing({ ...problem, message: '' })],
    ['refused with half a character', refusing({ ...problem, message: '\ud800' })],
    ['refused at half a place', refusing({ ...problem, line: null })],
    ['refused at no place', refusing({ ...problem, column: 0 })],
  ];

  it.each(dishonest)('notices when a parser %s', (what, dialect) => {
    const { failures } = fuzzDialect(dialect, [honest], { ...OPTIONS, count: 5 });
    expect(failures.map((failure) => failure.what)).toEqual(Array(5).fill(what));
  });

  it('notices when a parser is slow', () => {
    const { failures } = fuzzDialect(honest, [honest], { ...OPTIONS, count: 1, timeLimitMs: -1 });
    expect(failures.map(({ what }) => what)).toEqual([expect.stringMatching(/^took [0-9]+ ms$/)]);
  });

  it('stops after enough failures', () => {
    expect(fuzzDialect({ ...honest, parse: fail }, [honest], OPTIONS).failures).toHaveLength(20);
  });

  function refusing(one: typeof problem | (Omit<typeof problem, 'line'> & { line: null })): TestedDialect {
    return { ...honest, parse: () => ({ ok: false, problems: [one] }) };
  }

  function fail(): never {
    throw new Error('x');
  }
});
