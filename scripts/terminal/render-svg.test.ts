import { parseXml, type XmlElement } from '@rgrove/parse-xml';
import { describe, expect, it } from 'vitest';
import { takeFrames } from './frames.ts';
import { renderSvg } from './render-svg.ts';

const SIZE = { columns: 20, rows: 3 };

function render(...texts: string[]): string {
  const film = takeFrames(
    texts.map((text, i) => ({ atMs: i * 100, text })),
    SIZE,
  );
  return renderSvg({ ...SIZE, film, title: 'A "title" <&>', description: 'What it shows' });
}

function elements(svg: string, name: string): XmlElement[] {
  const within = (parent: XmlElement): XmlElement[] =>
    parent.children
      .filter((child): child is XmlElement => 'children' in child)
      .flatMap((child) => [child, ...within(child)]);
  const { root } = parseXml(svg);
  return root === null ? [] : within(root).filter((element) => element.name === name);
}

describe('renderSvg', () => {
  it('escapes what the product prints', () => {
    const texts = elements(render('$ a <b> && "c"\r\n'), 'text').map(({ text }) => text);
    expect(texts).toEqual(['A "title" <&>', '$ a <b> && "c"']);
  });

  it('shows the last frame to readers without animation', () => {
    const svg = render('one', '\r\u001B[Ktwo');
    const groups = elements(svg, 'g').filter(({ attributes }) => /\bk\d/.test(attributes['class'] ?? ''));
    expect(groups.map(({ text, attributes }) => [text, attributes['class']?.endsWith(' h')])).toEqual([
      ['one', true],
      ['two', false],
    ]);
    expect(svg).toContain('@media (prefers-reduced-motion:reduce)');
  });

  it('scrolls over the lines instead of repeating them', () => {
    const svg = render('a\r\nb\r\n', 'c\r\nd\r\n');
    expect(elements(svg, 'text')).toHaveLength(5);
    expect(svg).toContain('transform:translateY(-38px)}');
  });

  it('has no script, no address and no part that an image may not have', () => {
    const svg = render('a').replaceAll('http://www.w3.org/2000/svg', '');
    expect(svg).not.toMatch(/<script|href|url\(|@import|https?:|<foreignObject/);
  });

  it('renders the same film to the same bytes', () => {
    expect(render('a', 'b')).toBe(render('a', 'b'));
  });
});
