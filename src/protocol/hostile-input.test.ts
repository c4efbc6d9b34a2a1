import { describe, expect, it } from 'vitest';
import type { TestedDialect } from '../../test/fuzz/dialects.ts';
import { STRICT_DIALECTS } from '../../test/fuzz/dialects.ts';
import type { HostileSeed } from '../../test/fuzz/hostile-texts.ts';
import { hostileTextsFor } from '../../test/fuzz/hostile-texts.ts';
import type { Problem } from './shape/problem.ts';

/** Generous for busy machines: a quadratic algorithm takes minutes. */
const DEADLINE_MS = 10_000;

describe.each(STRICT_DIALECTS)('hostile input for $name', (dialect) => {
  const seed = seedOf(dialect);

  it('is made from a message that is accepted', () => {
    expect(dialect.parse(seed.json)).toMatchObject({ ok: true });
  });

  it.each(hostileTextsFor(dialect))('is refused: $name', ({ make, says = '' }) => {
    const input = make(seed);
    const start = performance.now();
    const parsed = dialect.parse(input);
    const ms = performance.now() - start;
    const problems = parsed.ok ? [] : parsed.problems;
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]?.message).toContain(says);
    expect(problems.filter((problem) => !isClear(problem))).toEqual([]);
    expect(ms).toBeLessThan(DEADLINE_MS);
  });

  it('leaves no trace on the prototype of objects', () => {
    expect('polluted' in {}).toBe(false);
  });
});

function isClear({ code, message, hint, line, column }: Problem): boolean {
  const hasPlace = line !== null && column !== null && line >= 1 && column >= 1;
  const wasReadable = code !== 'too-large' && code !== 'not-utf8';
  return code !== '' && message !== '' && message.length < 1_500 && hint !== '' && hasPlace === wasReadable;
}

function seedOf(dialect: TestedDialect): HostileSeed {
  const sample = dialect.samples.find(({ text }) => text !== '');
  const parsed = dialect.parse(sample?.text ?? '');
  if (!parsed.ok) throw new Error(`no sample of ${dialect.name}`);
  const value: Record<string, unknown> = { ...Object(parsed.value) };
  const field = Object.keys(value).find((name) => typeof value[name] === 'string') ?? '';
  return { json: JSON.stringify(value), field };
}
