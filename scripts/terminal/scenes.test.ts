import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseXml } from '@rgrove/parse-xml';
import { describe, expect, it } from 'vitest';
import { SCENES } from './scenes.ts';

const PICTURES = join(import.meta.dirname, '../../docs/pictures');
const MAX_BYTES = 200_000;

describe('the recordings in docs/pictures', () => {
  it('are those of the scenes', () => {
    expect(globSync('terminal-*.svg', { cwd: PICTURES }).toSorted()).toEqual(
      Object.keys(SCENES)
        .map((name) => `terminal-${name}.svg`)
        .toSorted(),
    );
  });

  it.each(Object.entries(SCENES))('%s is a small image with what was typed', (name, { typed, title }) => {
    const file = join(PICTURES, `terminal-${name}.svg`);
    expect(statSync(file).size).toBeLessThan(MAX_BYTES);
    const svg = readFileSync(file, 'utf8');
    // Pieces are in the order in which they appear: a typed line letter by letter, without its spaces.
    const text = (parseXml(svg).root?.text ?? '').replaceAll(/\s/g, '');
    expect(text).toContain(title.replaceAll(' ', ''));
    for (const [line] of typed) expect(text).toContain(line.replaceAll(' ', ''));
  });

  it.each(Object.keys(SCENES))('%s names no folder of the machine', (name) => {
    expect(readFileSync(join(PICTURES, `terminal-${name}.svg`), 'utf8')).not.toMatch(
      /\/(?:home|root|Users|work)\/|\/tmp\/(?!baton-[a-z]+-a1B2c3)/,
    );
  });
});
