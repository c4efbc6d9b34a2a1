import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Checks that the page on attacks is complete: each attack has a section, a test that runs with `npm test`, and a note
 * on what a sandbox adds.
 */
const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
const sections = page.split(/^## /m).flatMap((text) => {
  const number = /^(\d+)\. /.exec(text)?.[1];
  return number === undefined ? [] : [[Number(number), text] as const];
});

describe('docs/security.md', () => {
  it('numbers its attacks in order', () => {
    const numbers = sections.map(([number]) => number);
    expect(numbers.length).toBeGreaterThanOrEqual(15);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  });

  it.each(sections)('describes what stops attack %i and what only the sandbox stops', (_, text) => {
    expect(text).toMatch(/what stops it/i);
    expect(text).toMatch(/only (?:the|a)\s+sandbox|sandbox\s+does\s+not\s+help/i);
  });

  it.each(sections)('has an end-to-end test of attack %i', (number) => {
    // Attacks 19 and 20 are against a reader outside of Baton, so no daemon takes part in their tests.
    const name = number === 19 || number === 20 ? 'outside/outside' : `e2e/attack-${String(number).padStart(2, '0')}-*`;
    expect(globSync(`test/${name}.int.test.ts`, { cwd: root })).toHaveLength(1);
  });

  it('names tests that exist, at least one with variants for each attack', () => {
    const rows = [...page.matchAll(/^\| (\d+) \|(.*)\|$/gm)].map(([, number, cells = '']) => [
      Number(number),
      [...cells.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file = '']) => file),
    ]);
    expect(rows.map(([number]) => number)).toEqual(sections.map(([number]) => number));
    expect(rows.filter(([, files]) => Array.isArray(files) && files.length === 0)).toEqual([]);
    const named = [...page.matchAll(/`((?:src|test)\/[^`*]+\.ts)`/g)].map(([, file = '']) => file);
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('has every file of test/attacks in its table', () => {
    const files = globSync('test/attacks/*.int.test.ts', { cwd: root });
    expect(files.filter((file) => !page.includes(`\`${file}\``))).toEqual([]);
  });
});
