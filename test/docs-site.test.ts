import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPage } from '../src/cli/docs/find-page.ts';
import { buildSite } from '../src/cli/docs/site/build-site.ts';

/** The static site of `baton docs` and `npm run docs`. */
const site = buildSite();
const textOf = (path: string): string => Buffer.from(site.get(path) ?? []).toString();
const pages = [...site.keys()].filter((path) => path.endsWith('.html'));
const anchors = new Map(
  pages.map((path) => [path, new Set([...textOf(path).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
);

describe('the static site', () => {
  it.each(pages)('%s links only to existing targets', (path) => {
    const targets = [...textOf(path).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, target = '']) => target);
    const broken = targets.filter((target) => !/^https?:/.test(target) && !isThere(path, target));
    expect(broken).toEqual([]);
  });

  it.each(pages)('%s has no Markdown left, and nothing that its policy refuses', (path) => {
    const html = textOf(path);
    const words = html.replaceAll(/<pre[^]*?<\/pre>|<code>[^]*?<\/code>|<[^>]+>/g, ' ');
    expect(words.match(/\]\(|```|^\||&lt;\/?(?:details|summary|a )/gm) ?? []).toEqual([]);
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
  });

  it('has every page in its navigation, or one link away', () => {
    const linked = new Set(
      pages.flatMap((path) =>
        [...textOf(path).matchAll(/href="([^"#]+)/g)].map(([, target = '']) => posix.join(posix.dirname(path), target)),
      ),
    );
    expect(pages.filter((path) => !linked.has(path))).toEqual([]);
  });

  it('has every page that a message of Baton names', () => {
    const named = globSync('src/**/*.ts', { exclude: ['**/*.test.ts'] }).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/(?<!'|`)baton docs ([a-z#/-]+)/g)].map(([, page = '']) => page),
    );
    expect(named).toContain('api');
    const missing = named.filter((page) => {
      const found = findPage(page, site.keys());
      return !found.ok || !isThere('', found.path);
    });
    expect(missing).toEqual([]);
  });

  it('finds a heading by its words', () => {
    const rows: readonly (readonly string[])[] = JSON.parse(textOf('search-index.json'));
    expect(rows).toContainEqual([
      'security.html#what-may-an-agent-do-on-my-machine',
      'Security',
      'What may an agent do on my machine?',
      expect.stringContaining('bubblewrap'),
    ]);
    expect(textOf('search-index.json').length).toBeLessThan(1024 * 1024);
  });
});

function isThere(from: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const to = path === '' ? from : posix.join(posix.dirname(from), path);
  return site.has(to) && (anchor === undefined || anchors.get(to)?.has(anchor) === true);
}
