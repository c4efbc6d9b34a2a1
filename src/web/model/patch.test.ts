import { describe, expect, it } from 'vitest';
import {
  isPatchLine,
  parsePatch,
  type PatchLine,
  renderLineComment,
  renderPlacedComment,
  segmentsOf,
} from './patch.ts';

const PATCH = `diff --git a/src/time.ts b/src/time.ts
index 1111111..2222222 100644
--- a/src/time.ts
+++ b/src/time.ts
@@ -10,4 +10,5 @@ export function now() {
 const a = 1;
-const zone = 'UTC';
+const zone = 'Europe/Berlin';
+const more = true;
 return a;
 }
@@ -40 +41 @@
-last
\\ No newline at end of file
+last
`;

const lines = (patch: string): PatchLine[] => parsePatch(patch).filter(isPatchLine);
const numbers = (patch: string): string[] => lines(patch).map((each) => `${each.kind} ${each.old} ${each.new}`);

describe('parsePatch', () => {
  it('numbers the lines of each hunk on both sides', () => {
    expect(numbers(PATCH)).toEqual([
      'context 10 10',
      'removed 11 null',
      'added null 11',
      'added null 12',
      'context 12 13',
      'context 13 14',
      'removed 40 null',
      'added null 41',
    ]);
  });

  it('keeps range and heading of a hunk apart', () => {
    const hunks = parsePatch(PATCH).filter(({ kind }) => kind === 'hunk');
    expect(hunks).toEqual([
      { kind: 'hunk', range: '@@ -10,4 +10,5 @@', heading: 'export function now() {' },
      { kind: 'hunk', range: '@@ -40 +41 @@', heading: '' },
    ]);
  });

  it('marks the line that ends the file without a line break', () => {
    expect(lines(PATCH).map(({ isUnended }) => isUnended === true)).toEqual([...Array(6).fill(false), true, false]);
  });

  it('does not take lines of the file for headings', () => {
    const patch = '@@ -1,2 +1,3 @@\n-diff --git a/x b/x\n+++ b/x\n+@@ -1 +1 @@\n --- a/x\n';
    expect(lines(patch).map(({ kind, text }) => [kind, text])).toEqual([
      ['removed', 'diff --git a/x b/x'],
      ['added', '++ b/x'],
      ['added', '@@ -1 +1 @@'],
      ['context', '--- a/x'],
    ]);
  });

  it('takes an empty line in a hunk for an empty line of the file', () => {
    expect(lines('@@ -1,3 +1,3 @@\n a\n\n b\n').map(({ text }) => text)).toEqual(['a', '', 'b']);
  });

  it('shows modes of programs and links, and not those of plain files', () => {
    const patch =
      'diff --git a/l b/l\ndeleted file mode 100644\n@@ -1 +0,0 @@\n-x\ndiff --git a/l b/l\nnew file mode 120000\n@@ -0,0 +1 @@\n+y\n';
    expect(parsePatch(patch).map((row) => (row.kind === 'about' ? row.text : row.kind))).toEqual([
      'hunk',
      'removed',
      'new file mode 120000',
      'hunk',
      'added',
    ]);
  });

  it('accepts a patch that was cut in the middle of a line', () => {
    expect(numbers('@@ -1,90 +1,90 @@\n a\n-b\n+hal')).toEqual(['context 1 1', 'removed 2 null', 'added null 2']);
  });
});

describe('differences within a line', () => {
  const marked = (before: string, after: string): (string | undefined)[] =>
    lines(`@@ -1 +1 @@\n-${before}\n+${after}\n`).map(({ text, differs }) => differs && text.slice(...differs));

  it('marks the part that differs', () => {
    expect(marked("const zone = 'UTC';", "const zone = 'CET';")).toEqual(['UTC', 'CET']);
  });

  it('marks only the longer line if something was inserted', () => {
    expect(marked('call(a);', 'call(a, b);')).toEqual([undefined, ', b']);
  });

  it('marks nothing in a rewritten line', () => {
    expect(marked('return a;', 'throw new Error(message);')).toEqual([undefined, undefined]);
  });

  it('does not cut a character in half', () => {
    expect(marked('the same text 😀', 'the same text 😁')).toEqual(['😀', '😁']);
  });

  it('pairs no lines if their numbers differ', () => {
    expect(lines('@@ -1 +1,2 @@\n-call(a);\n+call(a, b);\n+c;\n').every(({ differs }) => differs === undefined)).toBe(
      true,
    );
  });
});

describe('segmentsOf', () => {
  const line = (text: string, more: Partial<PatchLine> = {}): PatchLine => ({
    kind: 'added',
    old: null,
    new: 1,
    text,
    ...more,
  });

  it('cuts trailing white space and differences out', () => {
    expect(segmentsOf(line('a bc  \r', { differs: [2, 3] }))).toEqual([
      { text: 'a ', differs: false, isTrailing: false },
      { text: 'b', differs: true, isTrailing: false },
      { text: 'c', differs: false, isTrailing: false },
      { text: '  \r', differs: false, isTrailing: true },
    ]);
  });

  it('joins to the whole line', () => {
    for (const text of ['', ' ', 'x', '  x  ', '\t'])
      expect(
        segmentsOf(line(text, { differs: [0, text.length] }))
          .map((each) => each.text)
          .join(''),
      ).toBe(text);
  });

  it('leaves the white space of unchanged lines alone', () => {
    expect(segmentsOf(line('a  ', { kind: 'context' }))).toEqual([{ text: 'a  ', differs: false, isTrailing: false }]);
  });
});

describe('a comment', () => {
  const added: PatchLine = { kind: 'added', old: null, new: 12, text: '  return 1;  ' };
  const removed: PatchLine = { kind: 'removed', old: 3, new: null, text: 'x' };

  it('quotes the line with its sign', () => {
    expect(renderLineComment(added, ' Use two. \n')).toBe('> +  return 1;\n\nUse two.');
  });

  it('quotes only the start of a very long line', () => {
    expect(renderLineComment({ ...added, text: 'x'.repeat(900) }, 'Too long')).toBe(
      `> +${'x'.repeat(500)}…\n\nToo long`,
    );
  });

  it('names the place, and the side of a removed line', () => {
    expect(renderPlacedComment('src/a.ts', added, 'Why?')).toBe('Comment on src/a.ts:12\n> +  return 1;\n\nWhy?');
    expect(renderPlacedComment('a', removed, 'Keep it')).toContain('a:3 (removed; the number before the change)\n> -x');
  });
});
