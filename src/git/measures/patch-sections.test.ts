import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PatchSections } from './patch-sections.ts';

const ALL = { maxFileChars: 1e9, maxChars: 1e9 };
const section = (name: string, ...lines: string[]): string =>
  [`diff --git a/${name} b/${name}`, `--- a/${name}`, `+++ b/${name}`, '@@ -0,0 +1 @@', ...lines, ''].join('\n');
const texts = (sections: PatchSections): string[] => sections.sections.map(({ text }) => text);

it('splits a patch into one section per file, however it is split into chunks', () => {
  const patch = [section('a', '+one'), section('b', '+two', '-diff --git a/x b/x', ' diff --git'), section('c')];
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (sizes) => {
      const sections = new PatchSections(ALL);
      const whole = patch.join('');
      for (let at = 0, i = 0; at < whole.length; i++) {
        const size = sizes[i % sizes.length] ?? 1;
        sections.push(whole.slice(at, at + size));
        at += size;
      }
      expect(texts(sections)).toEqual(patch);
      expect(sections.sections.some(({ isCut }) => isCut)).toBe(false);
    }),
  );
});

it('cuts the patch of a large file after a whole line, and keeps the others', () => {
  const sections = new PatchSections({ maxFileChars: 80, maxChars: 1000 });
  expect(sections.push(section('a', ...Array<string>(100).fill('+line')) + section('b', '+x'))).toBe(true);
  const [a, b] = sections.sections;
  expect(a).toMatchObject({ isCut: true, text: expect.stringMatching(/\n\+line\n$/) });
  expect(a?.text.length).toBeLessThanOrEqual(80);
  expect(b).toEqual({ isCut: false, text: section('b', '+x') });
});

it('stops when all patches together reach the limit', () => {
  const sections = new PatchSections({ maxFileChars: 1000, maxChars: 100 });
  expect(sections.push(section('a', '+1'))).toBe(true);
  expect(sections.push(section('b', ...Array<string>(30).fill('+2')))).toBe(false);
  expect(sections.push(section('c'))).toBe(false);
  expect(sections.sections.map(({ isCut }) => isCut)).toEqual([false, true, true]);
  expect(texts(sections).join('').length).toBeLessThanOrEqual(100);
});

it('does not keep a line that is longer than a patch may be', () => {
  const sections = new PatchSections({ maxFileChars: 200, maxChars: 1000 });
  sections.push(section('min.js', `+${'x'.repeat(5000)}`));
  expect(sections.sections).toEqual([{ isCut: true, text: section('min.js') }]);
});
