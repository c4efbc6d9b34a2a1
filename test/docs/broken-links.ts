import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the relative links of a page, in Markdown or HTML, whose target is missing. Skips code. */
export function brokenLinks(page: string, isThere: (path: string) => boolean, root: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^(`{3,})[^]*?^\1|`[^`\n]*`/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)|(?:href|src)="([^"]+)"|^\[[^\]]+\]: (\S+)/gm)]
    .map((match) => (match[1] ?? match[2] ?? match[3] ?? '').replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
    .map((target) => join(page, '..', target).replace(/\/$/, ''))
    .filter((path) => !isThere(path))
    .map((path) => `${page} → ${path}`);
}
