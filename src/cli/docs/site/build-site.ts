import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { openApi } from '../../../api/openapi/document.ts';
import { readNavigation, renderLayout } from './layout.ts';
import { parsePage, resolveIn, searchRows, type SitePage } from './page.ts';
import { renderBlocks } from './render-blocks.ts';

/** The repository or the installed package. Both have the Markdown files. */
const root = join(import.meta.dirname, '../../../..');
const INDEX = 'docs/README.md';
const OPENAPI = 'reference/openapi.json';
const PROJECT_PAGES = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/** The files of the site by path. */
export type Site = ReadonlyMap<string, Uint8Array>;

/** The static site: one page per Markdown file, the pictures that the pages show, and a search index. */
export function buildSite(): Site {
  const assets = ['site.css', 'search.js'].map(
    (name) => [name, readFileSync(join(import.meta.dirname, 'assets', name))] as const,
  );
  const pictures = [...findPictures(globSync('docs/**/*.md', { cwd: root }))].map(
    (path) => [path.slice('docs/'.length), readFileSync(join(root, path))] as const,
  );
  const texts = [...renderSite()].map(([path, text]) => [path, Buffer.from(text)] as const);
  return new Map<string, Uint8Array>([...texts, ...assets, ...pictures]);
}

/** False in an installation that lacks the Markdown files. */
export function hasPages(): boolean {
  return existsSync(join(root, INDEX));
}

/** Renders the pages, the search index and the OpenAPI document, by path. */
function renderSite(): ReadonlyMap<string, string> {
  const sources = [...globSync('docs/**/*.md', { cwd: root }).toSorted(), ...PROJECT_PAGES];
  const pages = new Map(sources.map((source) => [source, parsePage(source, readFileSync(join(root, source), 'utf8'))]));
  const files = new Set([...findPictures(sources), `docs/${OPENAPI}`]);
  const index = pages.get(INDEX);
  if (index === undefined) throw new Error(`${INDEX} is missing`);
  const navigation = readNavigation(index, resolveIn(index, pages, files));
  const render = (page: SitePage): [string, string] => [
    page.path,
    renderLayout(page, navigation, renderBlocks(page.blocks, resolveIn(page, pages, files))),
  ];
  return new Map([
    ...[...pages.values()].map(render),
    ['search-index.json', JSON.stringify([...pages.values()].flatMap(searchRows))],
    [OPENAPI, JSON.stringify(openApi())],
  ]);
}

/** Finds the pictures that pages show. Pictures that are only linked would double the size of the package. */
function findPictures(sources: readonly string[]): ReadonlySet<string> {
  const shown = sources.flatMap((source) =>
    [...readFileSync(join(root, source), 'utf8').matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, path = '']) =>
      posix.join(posix.dirname(source), path),
    ),
  );
  return new Set(shown);
}
