import { describe, expect, it } from 'vitest';
import { PROTOCOL_LIMITS } from '../limits.ts';
import type { Problem } from '../shape/problem.ts';
import { parseXmlTree, type ElementNode } from './xml.ts';

describe('readXml reads', () => {
  it('reads elements, attributes and text', () => {
    expect(plain(root('<a b="1" c=\'2\'><d>x</d><e/></a>'))).toEqual({
      name: 'a',
      attributes: { b: '1', c: '2' },
      children: [
        { name: 'd', text: 'x' },
        { name: 'e', text: '' },
      ],
    });
  });

  it('drops comments and white space around a text, and keeps white space inside', () => {
    expect(root('<a>\n  one\n  two  <!-- three -->\n</a>').text).toBe('one\n  two');
    expect(root('<a>one <!-- and --> two</a>').text).toBe('one  two');
    expect(root('<a> <!-- x --> one <!-- y --> </a>').text).toBe('one');
  });

  it('keeps white space that is written as a reference', () => {
    expect(root('<a> &#32;&#10;one&#9;\n</a>').text).toBe(' \none\t');
    expect(root('<a> &#32; </a>').text).toBe(' ');
    expect(root('<a>&#13;</a>').text).toBe('\r');
  });

  it('knows the five entities and character references', () => {
    expect(root('<a>&amp;&lt;&gt;&quot;&apos;&#65;&#x1F600;</a>').text).toBe('&<>"\'A😀');
    expect(root('<a b="&#9;&quot;&#10;"/>').attributes.get('b')).toBe('\t"\n');
  });

  it('reads all line ends as line feeds', () => {
    expect(root('<a>1\r\n2\r3\n4</a>').text).toBe('1\n2\n3\n4');
  });

  it('accepts a byte order mark and a declaration of version 1.0 and UTF-8', () => {
    expect(root('\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n<a/>').name).toBe('a');
    expect(root("<?xml version='1.0' standalone='yes' ?><a/>").name).toBe('a');
  });

  it('reads up to the limits of size and depth', () => {
    expect(root(sized(PROTOCOL_LIMITS.handoffBytes)).text).toHaveLength(PROTOCOL_LIMITS.handoffBytes - 7);
    expect(problem(sized(PROTOCOL_LIMITS.handoffBytes + 1)).message).toBe(
      'XML too large: 262145 bytes > 262144 bytes maximum',
    );
    const wide = `<a>${'é'.repeat(PROTOCOL_LIMITS.handoffBytes / 2 - 3)}</a>`;
    expect(problem(wide).message).toBe('XML too large: 262145 bytes > 262144 bytes maximum');
    expect(root(nested(PROTOCOL_LIMITS.handoffDepth)).name).toBe('a');
    expect(problem(nested(PROTOCOL_LIMITS.handoffDepth + 1))).toMatchObject({
      code: 'xml/too-deep',
      line: 1,
      column: 16 * 3 + 1,
    });
    expect(root(`<a>${'<b/>'.repeat(40)}</a>`).children).toHaveLength(40);
  });
});

const laughs =
  '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">]>\n<a>&lol2;</a>';

describe('readXml refuses', () => {
  it.each([
    ['billion laughs', laughs, 'xml/doctype', 1, 1],
    ['an external entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', 'xml/doctype', 1, 1],
    ['a DOCTYPE', '<?xml version="1.0"?>\n<!DOCTYPE a SYSTEM "a.dtd"><a/>', 'xml/doctype', 2, 1],
    ['a DOCTYPE in lower case', '<!doctype html><a/>', 'xml/doctype', 1, 1],
    ['an entity', '<a>\n  x &lol; y</a>', 'xml/entity', 2, 5],
    ['an entity of HTML', '<a>&nbsp;</a>', 'xml/entity', 1, 4],
    ['an entity in an attribute', '<a b="&x;"/>', 'xml/entity', 1, 7],
    ['a bare ampersand', '<a>you & me</a>', 'xml/bare-ampersand', 1, 8],
    ['an unfinished reference', '<a>&#65</a>', 'xml/bare-ampersand', 1, 4],
    ['a reference to NUL', '<a>&#0;</a>', 'xml/illegal-character', 1, 4],
    ['a reference to a control character', '<a>&#x1b;[31m</a>', 'xml/illegal-character', 1, 4],
    ['a reference to half a character', '<a>&#xD800;</a>', 'xml/illegal-character', 1, 4],
    ['a reference past Unicode', '<a>&#x110000;</a>', 'xml/illegal-character', 1, 4],
    ['a processing instruction', '<a>\n<?php echo 1 ?></a>', 'xml/processing-instruction', 2, 1],
    ['a stylesheet', '<?xml-stylesheet href="x"?><a/>', 'xml/processing-instruction', 1, 1],
    ['a late declaration', '\n<?xml version="1.0"?><a/>', 'xml/processing-instruction', 2, 1],
    ['another encoding', '<?xml version="1.0" encoding="UTF-16"?><a/>', 'xml/declaration', 1, 1],
    ['another version', '<?xml version="1.1"?><a/>', 'xml/declaration', 1, 1],
    ['CDATA', '<a><![CDATA[x]]></a>', 'xml/cdata', 1, 4],
    ['CDATA that hides a tag', '<a>x<![CDATA[</a><b>]]></a>', 'xml/cdata', 1, 5],
    ['CDATA that ends CDATA', '<a><![CDATA[]]]]><![CDATA[>]]></a>', 'xml/cdata', 1, 4],
    ['the end of CDATA alone', '<a>x]]></a>', 'xml/not-well-formed', 1, 5],
    ['NUL', '<a>\n\u0000</a>', 'xml/illegal-character', 2, 1],
    ['a control character', '<a>\u001B[31m</a>', 'xml/illegal-character', 1, 4],
    ['a lone surrogate', '<a>😀\uD83D</a>', 'xml/illegal-character', 1, 5],
    ['a non-character', '<a>\uFFFF</a>', 'xml/illegal-character', 1, 4],
    ['an unclosed element', '<a>\n<b>x</a>', 'xml/not-closed', 2, 5],
    ['an unclosed root', '<a><b/>', 'xml/not-closed', 1, 8],
    ['an unclosed tag', '<a', 'xml/not-closed', 1, 3],
    ['an unclosed comment', '<a><!-- x</a>', 'xml/not-closed', 1, 8],
    ['an unquoted attribute', '<a b=1/>', 'xml/not-well-formed', 1, 6],
    ['an attribute twice', '<a b="1" b="2"/>', 'xml/duplicate-attribute', 1, 15],
    ['text beside elements', '<a>\n  <b/>\n  x</a>', 'xml/mixed-content', 3, 3],
    ['a written space beside elements', '<a><b/>&#32;</a>', 'xml/mixed-content', 1, 8],
    ['two roots', '<a/>\n<b/>', 'xml/more-than-one-root', 2, 1],
    ['text after the root', '<a/> x', 'xml/more-than-one-root', 1, 6],
    ['nothing', '', 'xml/no-root', 1, 1],
    ['no XML', 'hello', 'xml/no-root', 1, 1],
    ['JSON', '{"from": "a"}', 'xml/no-root', 1, 1],
    ['a place after characters of two units', '<a>😀😀 &x;</a>', 'xml/entity', 1, 7],
    ['a place the parser found after such characters', '<a>😀😀<b></a>', 'xml/not-closed', 1, 9],
  ])('%s', (_, text, code, line, column) => {
    expect(problem(text)).toMatchObject({ code, line, column, path: '' });
    expect(problem(text).hint).not.toBe('');
  });

  it('gives a hint', () => {
    expect(problem('<a><branch>x</a>')).toMatchObject({
      message: 'Missing end tag for element branch',
      hint: 'Close it with </branch>.',
    });
    expect(problem('<a>&lol;</a>').message).toBe('Entity &lol; is not allowed');
    expect(problem('<a>\u0000</a>').message).toBe('Character U+0000 is not allowed in XML');
  });
});

describe('hostile input takes little time', () => {
  it.each([
    ['10,000 deep', '<a>'.repeat(10_000) + '</a>'.repeat(10_000)],
    ['10,000 deep in attributes', '<a b="<">'.repeat(10_000)],
    ['1 MB of text', `<a>${'x'.repeat(1_000_000)}</a>`],
    ['many open tags', '<a b="'.repeat(40_000)],
    ['many comments that do not end', '<!--'.repeat(60_000)],
    ['many dashes', `<!--${'-'.repeat(200_000)}-->`],
    ['many ampersands', '&'.repeat(200_000)],
    ['many references that do not end', `<a>${'&a'.repeat(100_000)}</a>`],
    ['a long name that does not end', `<a>&${'a'.repeat(200_000)}</a>`],
    ['many less-than signs', '<'.repeat(200_000)],
  ])('%s', (_, text) => {
    const start = performance.now();
    expect(problem(text).code).toMatch(/^xml\//);
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it.each([
    ['many carriage returns', `<a>${'\r'.repeat(200_000)}</a>`],
    ['many tags', `<a>${'<b/>'.repeat(60_000)}</a>`],
    ['many entities', `<a>${'&amp;'.repeat(50_000)}</a>`],
    ['many comments in a text', `<a>${'x<!---->'.repeat(30_000)}</a>`],
    ['many brackets', `<a>${']'.repeat(200_000)}</a>`],
    ['many attributes', `<a ${Array.from({ length: 20_000 }, (_, i) => `a${i}=""`).join(' ')}/>`],
  ])('%s, which is accepted', (_, text) => {
    const start = performance.now();
    expect(parseXmlTree(text).ok).toBe(true);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

function root(text: string): ElementNode {
  const parsed = parseXmlTree(text);
  if (!parsed.ok) throw new Error(parsed.problems[0].message);
  return parsed.value.root;
}

function problem(text: string): Problem {
  const parsed = parseXmlTree(text);
  if (parsed.ok) throw new Error('was accepted');
  return parsed.problems[0];
}

function plain({ name, attributes, children, text }: ElementNode): object {
  return {
    name,
    ...(attributes.size > 0 && { attributes: Object.fromEntries(attributes) }),
    ...(children.length > 0 ? { children: children.map(plain) } : { text }),
  };
}

function sized(bytes: number): string {
  return `<a>${'x'.repeat(bytes - 7)}</a>`;
}

function nested(depth: number): string {
  return '<a>'.repeat(depth) + '</a>'.repeat(depth);
}
