import { expect, it } from 'vitest';
import { diffContent } from './patch-diff.ts';

const file = { additions: 1, deletions: 1, binary: false, cut: false };
const diff = (...files: Parameters<typeof diffContent>[0]['files']) =>
  diffContent({ files, total: { files: files.length, additions: 0, deletions: 0 } }, '/repo');

it('shows the lines before and after', () => {
  const patch =
    'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n\\ No newline at end of file\n';
  expect(diff({ ...file, path: 'src/a', action: 'modified', patch })).toEqual([
    { type: 'diff', path: '/repo/src/a', oldText: 'one\ntwo\nthree\n', newText: 'one\nTWO\nthree\n' },
  ]);
});

it('keeps the places of several hunks on both sides', () => {
  const patch = '@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@ f()\n-c\n+d\n';
  expect(diff({ ...file, path: 'a', action: 'modified', patch })).toMatchObject([
    { oldText: '@@ -1 +1 @@\na\n@@ -9 +9 @@ f()\nc\n', newText: '@@ -1 +1 @@\nb\n@@ -9 +9 @@ f()\nd\n' },
  ]);
});

it('knows created, deleted, cut and binary files', () => {
  const shown = diff(
    { ...file, path: 'new', action: 'created', patch: '@@ -0,0 +1 @@\n+x\n' },
    { ...file, path: 'old', action: 'deleted', patch: '@@ -1 +0,0 @@\n-x\n' },
    { ...file, path: 'long', action: 'created', patch: '@@ -0,0 +1 @@\n+x\n', cut: true },
    { ...file, path: 'image', action: 'created', patch: null, binary: true },
  );
  expect(shown).toMatchObject([
    { oldText: null, newText: 'x\n' },
    { oldText: 'x\n', newText: '' },
    { newText: 'x\n[cut here]\n' },
    { type: 'content', content: { text: expect.stringContaining('and 1 more file') } },
  ]);
});

it('removes terminal codes', () => {
  const patch = '@@ -0,0 +1 @@\n+\u001B[31mred\u001B[0m\u0007\n';
  expect(diff({ ...file, path: 'a', action: 'created', patch })).toMatchObject([{ newText: 'red[U+0007]\n' }]);
});
