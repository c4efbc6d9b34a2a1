import { describe, expect, it } from 'vitest';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { parseYamlTree } from './yaml.ts';

describe('readYaml', () => {
  it('keeps the source and the offset of every node', () => {
    expect(parseYamlTree('a: 1e5\nb:\n  - "1"\n  - no\n')).toEqual({
      ok: true,
      node: {
        kind: 'object',
        at: 0,
        end: 0,
        fields: new Map([
          ['a', { at: 0, value: { kind: 'number', at: 3, value: 100_000, source: '1e5', plain: true } }],
          [
            'b',
            {
              at: 7,
              value: {
                kind: 'list',
                at: 12,
                items: [
                  { kind: 'text', at: 14, text: '1' },
                  { kind: 'text', at: 22, text: 'no' },
                ],
              },
            },
          ],
        ]),
      },
    });
  });

  it.each([
    ['a document marker', '---\na: b\n'],
    ['an end marker', 'a: b\n...\n'],
    ['comments', '# c\na: b # d\n# e\n'],
    ['windows line ends', '# c\r\na: b\r\n'],
    ['an explicit key', '? a\n: b\n'],
    ['quotes around the key', '"a": b\n'],
    ['flow style', '--- {a: b}\n'],
    ['no line end', 'a: b'],
  ])('reads %s', (_, text) => {
    expect(parseYamlTree(text)).toMatchObject({ ok: true, node: { fields: new Map([['a', expect.anything()]]) } });
  });

  it('gives an empty value the offset of its name', () => {
    const read = parseYamlTree('--- {a: b, c}');
    expect(read.ok && read.node.kind === 'object' && read.node.fields.get('c')).toMatchObject({
      at: 11,
      value: { kind: 'null', at: 11 },
    });
  });

  it.each([
    ['a: b\n\ta: c', 5],
    ['a: "\\q"', 4],
    ['a: &x b', 6],
    ['a: *x', 3],
    ['a: !!str b', 9],
    ['a: 1\nb: 2\na: 3', 10],
    ['a: 1\n__proto__: 2', 5],
    ['a: 1\n<<: {}', 5],
    ['%YAML 1.1\n---\na: no', 0],
    ['a: \x07', 3],
    ['a: é\ud800', 4],
    ['a: b\n---\nc: d', 5],
  ])('reports where it stopped: %j', (text, at) => {
    expect(parseYamlTree(text)).toMatchObject({ ok: false, unreadable: { code: 'invalid-yaml', at } });
  });
});

describe('nesting in YAML', () => {
  const shapes: readonly (readonly [name: string, nested: (levels: number) => string])[] = [
    ['flow lists', (levels) => `--- ${'['.repeat(levels)}${']'.repeat(levels)}`],
    ['flow maps', (levels) => `--- ${'{a: '.repeat(levels)}1${'}'.repeat(levels)}`],
    ['compact lists', (levels) => `${'- '.repeat(levels)}1`],
    ['block lists', (levels) => lines(levels, (i) => `${' '.repeat(i)}-`)],
    ['block maps', (levels) => lines(levels, (i) => `${' '.repeat(i)}a:`)],
    ['block maps with room', (levels) => lines(levels, (i) => `${'    '.repeat(i)}a:`)],
  ];

  it.each(shapes)('accepts 31 levels of %s around a value, and refuses 33', (_, nested) => {
    expect(parseYamlTree(nested(PROTOCOL_LIMITS.nesting - 1))).toMatchObject({ ok: true });
    expect(parseYamlTree(nested(PROTOCOL_LIMITS.nesting + 1))).toMatchObject({
      ok: false,
      unreadable: { what: 'nesting deeper than 32 levels' },
    });
  });

  it.each(shapes)('stops before any recursion at 5,000 levels of %s', (_, nested) => {
    expect(parseYamlTree(nested(5_000))).toMatchObject({ unreadable: { what: 'nesting deeper than 32 levels' } });
  });
});

describe('the number of lexemes in YAML', () => {
  it('may be that of a large message', () => {
    const files = Array.from({ length: 4_000 }, (_, i) => `  - path: src/file-${i}.ts\n    action: modified\n`);
    expect(parseYamlTree(`files_modified:\n${files.join('')}`)).toMatchObject({ ok: true });
  });

  it('may not be more than 100,000', () => {
    expect(parseYamlTree(`a: [${','.repeat(100_000)}]`)).toMatchObject({
      unreadable: { what: 'more than 100000 words and signs' },
    });
  });
});

function lines(count: number, line: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => `${line(i)}\n`).join('');
}
