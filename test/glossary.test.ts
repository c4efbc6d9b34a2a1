import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Checks the pages for users: terms have one word and exist in the code, paths and links lead to files and headings,
 * lines wrap.
 */
const root = join(import.meta.dirname, '..');
const pages = globSync(['*.md', 'docs/**/*.md', 'runbooks/**/*.md'], { cwd: root });
/** Pages that are rendered from the declarations in `src`. */
const GENERATED = new Set(['docs/operations.md', 'docs/entries.md', ...globSync('docs/reference/*.md', { cwd: root })]);
const MAX_COLUMNS = 120;

interface Term {
  readonly term: string;
  readonly name: string;
  readonly avoid: readonly string[];
}

const terms: readonly Term[] = [
  ...read('docs/glossary.md').matchAll(/^\| ([a-z][^|]*) \| [^|]+ \| `(\w+)` \| ([^|]+) \|$/gm),
].map(([, term = '', name = '', avoid = '']) => ({ term, name, avoid: avoid === '–' ? [] : avoid.split(', ') }));

/** Words that are never used in the docs. */
const NEVER = ['whoever', 'somebody', 'how-manieth', 'anew', 'called off', 'calls off'];

describe('docs/glossary.md', () => {
  it('defines each term once', () => {
    expect(terms.length).toBeGreaterThan(60);
    expect(terms.map(({ term }) => term)).toEqual([...new Set(terms.map(({ term }) => term))]);
  });

  it('names types and functions that src exports', () => {
    const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !/\.(test|cases)\.ts$/.test(file));
    const exported = new Set(
      sources.flatMap((file) =>
        [
          ...read(file).matchAll(/^export (?:async )?(?:function|class|interface|type|const) (\w+|\{[^}]*\})/gm),
        ].flatMap(([, name = '']) => name.match(/\w+/g) ?? []),
      ),
    );
    expect(terms.filter(({ name }) => !exported.has(name)).map(({ term, name }) => `${term}: ${name}`)).toEqual([]);
  });

  it.each(pages.filter((page) => !['docs/glossary.md', 'CHANGELOG.md'].includes(page)))(
    'has its words used in %s',
    (page) => {
      expect(findWords(withoutCode(read(page)))).toEqual([]);
    },
  );

  it('has its words used in help texts', () => {
    const files = globSync(['src/cli/**/*.ts', 'src/api/operations/*.ts'], { cwd: root });
    const texts = files
      .filter((file) => !/\.(test|cases)\.ts$/.test(file))
      .flatMap((file) => [
        ...read(file).matchAll(
          /\b(?:(?:summary|description|title|about|hint): ?|\w+Command: \[\s*'[^']*',\s*)\n? *(['"`])(.*?)\1\]?,?$/gm,
        ),
      ]);
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.flatMap(([, , text = '']) => findWords(text))).toEqual([]);
  });

  it('detects a word', () => {
    expect(findWords('The Keeper asks whoever is there.')).toEqual(['keeper', 'whoever']);
  });
});

describe('the pages', () => {
  it.each(pages)('%s names only paths that exist', (page) => {
    const named = [...read(page).matchAll(/`((?:src|test|scripts|bench|examples|runbooks)\/[\w./-]+)`/g)];
    expect(named.map(([, path = '']) => path).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it.each(pages.filter((page) => page !== 'CHANGELOG.md'))('%s links only to headings that exist', (page) => {
    const links = [...withoutCode(read(page)).matchAll(/\]\(([\w./-]*)#([^)]+)\)/g)];
    const broken = links.filter(
      ([, file = '', anchor = '']) => !anchorsOf(file === '' ? page : join(page, '..', file)).has(anchor),
    );
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it.each(pages.filter((page) => !GENERATED.has(page) && !page.startsWith('runbooks/')))(
    '%s wraps at 120 characters',
    (page) => {
      const lines = withoutCode(read(page)).split('\n');
      // A table row must be one line, and so must the list of pure folders, which a test reads.
      expect(
        lines.filter((line) => line.length > MAX_COLUMNS && !/^(?:\s*[|<]| {4}|Pure folders: )/.test(line)),
      ).toEqual([]);
    },
  );
});

function findWords(text: string): string[] {
  const words = [...new Set([...terms.flatMap(({ avoid }) => avoid), ...NEVER])];
  return words
    .filter((word) => new RegExp(`(?<![\\w-])${word.replaceAll(/\s+/g, '\\s+')}s?(?![\\w-])`, 'i').test(text))
    .toSorted();
}

/** The page without fenced blocks and code spans, because those quote programs. */
function withoutCode(page: string): string {
  return page.replaceAll(/^\s*```.*?^\s*```$/gms, '').replaceAll(/`[^`\n]*`/g, (span) => 'x'.repeat(span.length));
}

function anchorsOf(page: string): ReadonlySet<string> {
  const text = read(page);
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]);
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
