import { posix } from 'node:path';
import { escapeHtml, plainText } from './inline.ts';
import type { SitePage } from './page.ts';

export interface NavigationPart {
  readonly title: string;
  readonly pages: readonly { readonly label: string; readonly path: string }[];
}

/** Reads the navigation from the index by task: each of its sections with the pages that it links to, once. */
export function readNavigation(index: SitePage, resolve: (target: string) => string | undefined): NavigationPart[] {
  const parts: { title: string; pages: { label: string; path: string }[] }[] = [];
  const seen = new Set<string>();
  for (const block of index.blocks) {
    if (block.kind === 'heading' && block.level === 2) parts.push({ title: plainText(block.text), pages: [] });
    const text = block.kind === 'table' ? block.rows.flat().join('\n') : block.kind === 'paragraph' ? block.text : '';
    for (const [, label = '', target = ''] of text.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
      const path = resolve(target)?.replace(/#.*/, '');
      const part = parts.at(-1);
      if (part === undefined || path?.endsWith('.html') !== true || seen.has(path)) continue;
      seen.add(path);
      part.pages.push({ label: plainText(label), path });
    }
  }
  return parts;
}

/** Uses no inline script or style, because the policy allows only files of the site. */
export function renderLayout(page: SitePage, navigation: readonly NavigationPart[], content: string): string {
  const up = posix.relative(posix.dirname(page.path), '.') || '.';
  const links = navigation.map(({ title, pages }) => {
    const items = pages.map(({ label, path }) => {
      const current = path === page.path ? ' aria-current="page"' : '';
      return `<li><a href="${up}/${path}"${current}>${escapeHtml(label)}</a></li>`;
    });
    return `<h2>${escapeHtml(title)}</h2>\n<ul>${items.join('\n')}</ul>`;
  });
  return `<!doctype html>
<html lang="en" data-root="${up}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Baton</title>
<link rel="stylesheet" href="${up}/site.css">
<script src="${up}/search.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${up}/index.html">Baton</a>
<a class="to-pages" href="#pages">Pages</a>
<search><input id="search" type="search" placeholder="Search ( / )" aria-label="Search the documentation" autocomplete="off"><ol id="found" hidden></ol></search>
</header>
<div class="columns">
<nav id="pages" aria-label="Pages">${links.join('\n')}</nav>
<main id="content">
${content}
</main>
</div>
</body>
</html>
`;
}

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";
