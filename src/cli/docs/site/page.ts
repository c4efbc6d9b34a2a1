import { posix } from 'node:path';
import { type Block, parseBlocks } from './blocks.ts';
import { plainText } from './inline.ts';
import { anchorOf } from './render-blocks.ts';

export interface SitePage {
  /** The path in the repository: `docs/guides/ci.md`. */
  readonly source: string;
  /** The path in the site: `guides/ci.html`. */
  readonly path: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

export function parsePage(source: string, text: string): SitePage {
  const blocks = parseBlocks(text);
  const heading = blocks.find((block) => block.kind === 'heading');
  return { source, path: sitePath(source), title: heading === undefined ? source : plainText(heading.text), blocks };
}

/** `docs/README.md` is the start page. Pages from the top of the repository are in `project`. */
function sitePath(source: string): string {
  const inDocs = source.startsWith('docs/') ? source.slice('docs/'.length) : `project/${source.toLowerCase()}`;
  return inDocs.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
}

/** Resolves a link to another page, a file of `docs`, or another site. Undefined for a file that the site lacks. */
export function resolveIn(
  page: SitePage,
  pages: ReadonlyMap<string, SitePage>,
  files: ReadonlySet<string>,
): (target: string) => string | undefined {
  return (target) => {
    if (/^(?:https?:|#)/.test(target)) return target;
    const [path = '', anchor] = target.split('#');
    const source = posix.join(posix.dirname(page.source), path).replace(/\/$/, '/README.md');
    const found = pages.get(source)?.path ?? (files.has(source) ? source.slice('docs/'.length) : undefined);
    if (found === undefined) return undefined;
    return `${posix.relative(posix.dirname(page.path), found)}${anchor === undefined ? '' : `#${anchor}`}`;
  };
}

/** One part of a page in the search index: address, page title, heading, words. */
export type SearchRow = readonly [address: string, title: string, heading: string, words: string];

export function searchRows({ path, title, blocks }: SitePage): SearchRow[] {
  const rows: { heading: string; words: string[] }[] = [{ heading: title, words: [] }];
  for (const block of blocks) {
    if (block.kind === 'heading' && block.level > 1) rows.push({ heading: plainText(block.text), words: [] });
    else rows.at(-1)?.words.push(wordsOf(block));
  }
  return rows.map(({ heading, words }, i) => {
    const address = i === 0 ? path : `${path}#${anchorOf(heading)}`;
    return [address, title, heading, words.join(' ').replaceAll(/\s+/g, ' ').slice(0, MAX_WORDS)];
  });
}

/** Keeps the index below a megabyte. The longest tables are found by their headings. */
const MAX_WORDS = 1500;

function wordsOf(block: Block): string {
  switch (block.kind) {
    case 'table':
      return [block.head, ...block.rows].flat().map(plainText).join(' ');
    case 'list':
      return block.items.flat().map(wordsOf).join(' ');
    case 'heading':
    case 'paragraph':
      return plainText(block.text);
    case 'code':
      return block.text;
    default:
      return '';
  }
}
