import { describe, expect, it } from 'vitest';
import { findPage } from './find-page.ts';

const SITE = ['index.html', 'cli.html', 'runbooks.html', 'guides/ci.html', 'guides/runbooks.html', 'site.css'];

describe('the page that a user names', () => {
  it.each([
    ['cli', 'cli.html'],
    ['docs/cli.md', 'cli.html'],
    ['cli.html', 'cli.html'],
    ['guides/ci', 'guides/ci.html'],
    ['ci', 'guides/ci.html'],
    ['docs/guides/ci.md#a-check', 'guides/ci.html#a-check'],
    ['runbooks', 'runbooks.html'],
    ['guides/runbooks', 'guides/runbooks.html'],
    ['index', 'index.html'],
  ])('%s is %s', (named, path) => {
    expect(findPage(named, SITE)).toEqual({ ok: true, path });
  });

  it.each([
    ['runbook', 'the documentation has no page runbook (did you mean runbooks?)'],
    ['site.css', 'the documentation has no page site.css'],
    ['../package.json', 'the documentation has no page ../package.json'],
    ['', 'the documentation has no page '],
  ])('%j is no page', (named, message) => {
    expect(findPage(named, SITE)).toEqual({ ok: false, message });
  });

  it('needs its folder if two folders have a page of this name', () => {
    expect(findPage('ci', ['guides/ci.html', 'reference/ci.html']).ok).toBe(false);
  });
});
