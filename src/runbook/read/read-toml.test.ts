import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import { anyText } from '../../../test/fuzz/arbitrary-of.ts';
import { textPositionAt } from '../../protocol/shape/problem.ts';
import type { Node } from '../../protocol/text/node.ts';
import { parseTomlTree } from './read-tree.ts';

/** Every key and value with its line and column. */
function placesOf(text: string): Record<string, string> {
  const read = parseTomlTree(text);
  if (!read.ok) throw new Error(read.unreadable.what);
  const found: Record<string, string> = {};
  const place = (at: number): string => {
    const { line, column } = textPositionAt(text, at);
    return `${line}:${column}`;
  };
  const visit = (node: Node, path: string): void => {
    if (node.kind === 'object') {
      for (const [name, field] of node.fields) {
        const inner = path === '' ? name : `${path}.${name}`;
        found[inner] = `${place(field.at)} ${place(field.value.at)}`;
        visit(field.value, inner);
      }
    }
    if (node.kind === 'list') {
      for (const [i, item] of node.items.entries()) {
        found[`${path}[${i}]`] = place(item.at);
        visit(item, `${path}[${i}]`);
      }
    }
  };
  visit(read.node, '');
  return found;
}

/** The data of a tree, as the TOML library would return it. */
function dataOf(node: Node): unknown {
  if (node.kind === 'object')
    return Object.fromEntries([...node.fields].map(([name, { value }]) => [name, dataOf(value)]));
  if (node.kind === 'list') return node.items.map(dataOf);
  return node.kind === 'text' ? node.text : node.value;
}

function scalarsOf(node: Node): Node[] {
  if (node.kind === 'object') return [...node.fields.values()].flatMap(({ value }) => scalarsOf(value));
  return node.kind === 'list' ? node.items.flatMap(scalarsOf) : [node];
}

function isAtItsPlace(node: Node, text: string): boolean {
  return (node.kind === 'text' ? /^["']/ : /^[-+\dtf]/).test(text.slice(node.at, node.at + 1));
}

describe('places in TOML', () => {
  it('are those of keys and values, in tables', () => {
    expect(placesOf('a = 1\n\n[b.c] # here\n  d   =   "x"\n"e f" = true\n')).toEqual({
      a: '1:1 1:5',
      b: '3:2 3:2',
      'b.c': '3:4 3:1',
      'b.c.d': '4:3 4:11',
      'b.c.e f': '5:1 5:9',
    });
  });

  it('cover the items of a list of tables, and fields of the newest', () => {
    expect(placesOf('[[p.s]]\nn = 1\n[[p.s]]\nn = 2\n[p.s.w]\nb = 3\n')).toEqual({
      p: '1:3 1:3',
      'p.s': '1:5 1:1',
      'p.s[0]': '1:1',
      'p.s[0].n': '2:1 2:5',
      'p.s[1]': '3:1',
      'p.s[1].n': '4:1 4:5',
      'p.s[1].w': '5:6 5:1',
      'p.s[1].w.b': '6:1 6:5',
    });
  });

  it('are found in inline tables and lists over several lines', () => {
    expect(placesOf('a = { b = "}", "c" = [1, 2] }\nd = [\n  # one\n  "]",\n  { e = 1 }, # two\n]\n')).toEqual({
      a: '1:1 1:5',
      'a.b': '1:7 1:11',
      'a.c': '1:16 1:22',
      'a.c[0]': '1:23',
      'a.c[1]': '1:26',
      d: '2:1 2:5',
      'd[0]': '4:3',
      'd[1]': '5:3',
      'd[1].e': '5:5 5:9',
    });
  });

  it('are found after strings of every kind', () => {
    const text = `a = "\\" = [x]"\nb = '\\'\nc = """\nd = 1\n"""""\ne = '''\n[f]\n'''\ng = 1979-05-27 07:32:00 # now\nh.i = 1\n`;
    expect(placesOf(text)).toEqual({
      a: '1:1 1:5',
      b: '2:1 2:5',
      c: '3:1 3:5',
      e: '6:1 6:5',
      g: '9:1 9:5',
      h: '10:1 10:1',
      'h.i': '10:3 10:7',
    });
  });

  it('count characters, and lines with any line end', () => {
    expect(placesOf('a = "😀é"\r\n"😀" = 1\r\n')).toEqual({ a: '1:1 1:5', '😀': '2:1 2:7' });
  });

  it('name keys in their parsed form', () => {
    expect(placesOf('"\\u0061\\tb" = 1\n')).toEqual({ 'a\tb': '1:1 1:15' });
  });

  it('exist for everything that the library reads', () => {
    const key = fc.oneof(
      fc.constantFrom('a', 'b', 'c', 'steps', 'x-y'),
      anyText.filter((text) => text !== '__proto__'),
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        anyText,
        fc.integer(),
        fc.boolean(),
        fc.array(anyText, { maxLength: 3 }),
        fc.array(fc.dictionary(key, tie('tree'), { maxKeys: 3, noNullPrototype: true }), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, tree, { maxKeys: 5, noNullPrototype: true }), (value) => {
        const text = stringify(value);
        const read = parseTomlTree(text);
        expect(read.ok && dataOf(read.node)).toEqual(parse(text));
        // Each text and number is at the reported place.
        expect(read.ok ? scalarsOf(read.node).filter((node) => !isAtItsPlace(node, text)) : []).toEqual([]);
      }),
      { numRuns: samples(300) },
    );
  });
});

describe('invalid TOML', () => {
  it.each([
    ['a = ', 1, 5],
    ['a = 1\nb = "x\n', 2, 7],
    ['a = 1\na = 2\n', 2, 1],
    ['[a]\nb = 1\n[a]\n', 3, 2],
    ['é = 1', 1, 1],
    ['a = 9223372036854775807', 1, 5],
    ['a.__proto__.b = 1', 1, 3],
  ])('%j is refused at its place', (text, line, column) => {
    const read = parseTomlTree(text);
    expect(read.ok ? 'ok' : textPositionAt(text, read.unreadable.at)).toEqual({ line, column });
    expect(!read.ok && read.unreadable.code).toBe('invalid-toml');
  });

  it.each([
    ['keys', Array.from({ length: 20_000 }, (_, i) => `k${i} = ${i}`).join('\n')],
    ['dots in a key', `a${'.a'.repeat(100_000)} = 1`],
    ['dots in a header', `[${'a.'.repeat(100_000)}a]`],
    ['brackets', `a = ${'['.repeat(200_000)}`],
    ['braces', `a = ${'{a='.repeat(70_000)}`],
    ['tables', Array.from({ length: 20_000 }, (_, i) => `[t${i}]`).join('\n')],
    ['lists of tables', '[[a]]\n[[a.b]]\n'.repeat(15_000)],
    ['items', `a = [${'1,'.repeat(100_000)}]`],
    ['quotes', '"'.repeat(200_000)],
    ['escapes', `a = "${'\\n'.repeat(100_000)}"`],
    ['comments', '#\n'.repeat(100_000)],
    ['spaces', `a = 1${' '.repeat(200_000)}x`],
    ['digits', `a = ${'1'.repeat(200_000)}`],
    ['long strings', `a = """${'"" '.repeat(70_000)}"""`],
    ['equals signs', '='.repeat(200_000)],
  ])('takes linear time on many %s', (_, text) => {
    const start = performance.now();
    parseTomlTree(text);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
