import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXPLAINED } from '../mutation/explained.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';

const ROOT = join(import.meta.dirname, '../..');

function countOf(text: string, file: string): number {
  return readFileSync(join(ROOT, file), 'utf8').split(text).length - 1;
}

describe('a rule that is rewritten takes with it', () => {
  it('its planted bug: each text to replace occurs once', () => {
    const parts = PLANTED_BUGS.flatMap((bug) =>
      [bug, ...(bug.more ?? [])].map((part) => ({ name: bug.name, ...part })),
    );
    expect(parts.filter(({ from, file }) => countOf(from, file) !== 1).map(({ name, file }) => [name, file])).toEqual(
      [],
    );
  });

  it('the reason why nobody notices a mutant of it', () => {
    expect(EXPLAINED.filter((each) => countOf(each.in, each.file) !== 1 || !each.in.includes(each.from))).toEqual([]);
  });
});
