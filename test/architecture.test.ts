import { existsSync, readFileSync, globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The rooms of `src/` and their allowed imports, read from the table in ARCHITECTURE.md. */
const MAY_IMPORT = readTable(readFileSync(join(root(), 'ARCHITECTURE.md'), 'utf8'));

/**
 * Folders without a clock, chance, environment, file, network or process, which they get as arguments. Read from
 * ARCHITECTURE.md.
 */
const PURE_FOLDERS = readPureFolders(readFileSync(join(root(), 'ARCHITECTURE.md'), 'utf8'));

const MAX_FILES_PER_FOLDER = 25;
const MAX_LINES = 300;

const files = globSync('src/**/*.{ts,tsx}', { cwd: root() }).filter((file) => !/\.(test|cases)\.tsx?$/.test(file));
const products = globSync('src/**/*.{ts,tsx,css,html,svg,sql}', { cwd: root() }).filter(
  (file) => !/\.(test|cases)\.ts$/.test(file),
);
const imports = new Map(files.map((file) => [file, importsOf(file)]));

describe('imports between rooms', () => {
  it('has every room in the table', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in MAY_IMPORT))).toEqual([]);
  });

  it('allows no import in the wrong direction', () => {
    expect(wrongArrows(imports)).toEqual([]);
  });

  it('has no cycle between files', () => {
    expect(findCycle()).toBeUndefined();
  });

  it('has at most 25 files per folder', () => {
    const counts = Map.groupBy(products, dirname);
    const full = [...counts].filter(([, inside]) => inside.length > MAX_FILES_PER_FOLDER);
    expect(full.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([]);
  });

  it('has a README in every room', () => {
    const rooms = [...new Set(files.map((file) => `src/${roomOf(file)}`))];
    expect(rooms.filter((room) => !existsSync(join(root(), room, 'README.md')))).toEqual([]);
  });

  it('gives a reason for every file over 300 lines in its first comment', () => {
    const long = products.filter((file) => read(file).split('\n').length - 1 > MAX_LINES);
    expect(long.filter((file) => !/^(?:import[^;]*;\s*)*\/\*\*?[^/]*\b[Oo]ver 300 lines/.test(read(file)))).toEqual([]);
  });

  it('keeps the pure folders pure', () => {
    const impure = files
      .filter((file) => PURE_FOLDERS.some((folder) => file.startsWith(`src/${folder}/`)))
      .flatMap((file) => impuritiesIn(read(file)).map((what) => `${file}: ${what}`));
    expect(impure).toEqual([]);
  });

  it.each([
    [`import { readFileSync } from 'node:fs';`, `'node:fs'`],
    [`const { execSync } = await import('node:child_process');`, `'node:child_process'`],
    [`import { Pool } from 'pg';`, `'pg'`],
    ['const at = Date.now();', 'Date.now'],
    ['const at = new Date();', 'new Date()'],
    ['const n = Math.random();', 'Math.random'],
    ['const id = crypto.randomUUID();', 'crypto'],
    ['const home = process.env.HOME;', 'process'],
    ['await fetch(url);', 'fetch'],
    ['setTimeout(again, 10);', 'setTimeout'],
    ['const started = performance.now();', 'performance'],
    ['globalThis.x = 1;', 'globalThis'],
  ])('detects %s', (source, what) => {
    expect(impuritiesIn(source)).toEqual([what]);
  });

  it.each([
    '// The process.env of the daemon, and Date.now(), are arguments.',
    'const at = new Date(entry.at).toISOString();',
    'const at = Date.parse(entry.at);',
    'const { process } = view;\nreturn view.process.pid;',
    `const message = 'cannot fetch(x)';`,
    `import { parseDocument } from 'yaml';`,
  ])('allows %s', (source) => {
    expect(impuritiesIn(source)).toEqual([]);
  });

  it('reads the pure folders from the document', () => {
    expect(PURE_FOLDERS).toContain('state');
    expect(readPureFolders('Pure folders: `a`, `b/c`.')).toEqual(['a', 'b/c']);
  });

  it('reads what a room may import in each form of the table', () => {
    const table = readTable(
      [
        '| `src/a` | first | nothing |',
        '| `src/b` | second | `a` |',
        '| `src/c` | third, with `code` | all above but `a` |',
        '| `src/d` | fourth | all but `c` |',
      ].join('\n'),
    );
    expect(table).toEqual({ a: [], b: ['a'], c: ['b'], d: ['a', 'b'] });
  });

  it('words the all-clear in one file and calls it from one other', () => {
    const all = globSync('src/**/*.{ts,tsx,html}', { cwd: root() }).filter((file) => !/\.(test|cases)\.ts$/.test(file));
    expect(all.filter((file) => /nothing needs you/i.test(read(file)))).toEqual(['src/api/all-clear.ts']);
    expect(all.filter((file) => read(file).includes('judgeAllClear(')).sort()).toEqual([
      'src/api/all-clear.ts',
      'src/daemon/operations/status.ts',
    ]);
  });

  it('keeps the auditor of the simulator free of all other code, so that no mistake of the kernel hides there', () => {
    const own = [...imports].filter(([file]) => file.startsWith('src/simulator/auditor/'));
    expect(own.length).toBeGreaterThan(0);
    const others = own.flatMap(([file, targets]) => targets.filter((target) => dirname(target) !== dirname(file)));
    expect(others).toEqual([]);
  });

  it('detects an import in the wrong direction', () => {
    expect(wrongArrows(new Map([['src/protocol/x.ts', ['src/cli/main.ts']]]))).toEqual([
      'src/protocol/x.ts → src/cli/main.ts',
    ]);
    expect(wrongArrows(new Map([['src/cli/main.ts', ['src/protocol/x.ts']]]))).toEqual([]);
  });

  it('reads imports of every form', () => {
    expect(specifiersOf(`import { a } from '../cli/x.ts';\nconst b = await import('./y.ts');`)).toEqual([
      '../cli/x.ts',
      './y.ts',
    ]);
  });
});

function readTable(markdown: string): Record<string, readonly string[]> {
  const rows = [...markdown.matchAll(/^\| `src\/([a-z]+)` \|.*\|([^|]*)\|$/gm)];
  const rooms = rows.map(([, room = '']) => room);
  return Object.fromEntries(rows.map(([, room = '', cell = ''], index) => [room, mayImport(cell, room, rooms, index)]));
}

function readPureFolders(markdown: string): string[] {
  const [, list = ''] = /^Pure folders: (.*)\.$/m.exec(markdown) ?? [];
  return [...list.matchAll(/`([a-z/-]+)`/g)].map(([, folder = '']) => folder);
}

function mayImport(cell: string, room: string, rooms: readonly string[], index: number): readonly string[] {
  const named = [...cell.matchAll(/`([a-z]+)`/g)].map(([, name = '']) => name);
  const unknown = named.find((name) => !rooms.includes(name));
  if (unknown !== undefined) throw new Error(`ARCHITECTURE.md: ${room} may import ${unknown}, which is no room`);
  if (!cell.includes('all')) return named;
  const offered = cell.includes('all above') ? rooms.slice(0, index) : rooms.filter((other) => other !== room);
  return offered.filter((other) => !named.includes(other));
}

/** Packages that only compute. */
const PURE_PACKAGES = new Set(['yaml', 'smol-toml', '@rgrove/parse-xml', 'canonicalize']);

const IMPURE_GLOBALS = [
  'Date.now',
  'Math.random',
  'crypto',
  'process',
  'performance',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'globalThis',
  'Buffer',
  'require',
  'Temporal.Now',
];

/** The clocks, files and other impure globals that a source uses. Comments and texts do not count. */
function impuritiesIn(source: string): string[] {
  const modules = specifiersOf(source)
    .filter((specifier) => !specifier.startsWith('.') && !PURE_PACKAGES.has(specifier))
    .map((specifier) => `'${specifier}'`);
  // Web Crypto's `subtle` computes digests and signatures from its arguments.
  const code = withoutTexts(source).replaceAll('crypto.subtle', 'subtle');
  const used = IMPURE_GLOBALS.filter((name) => usesGlobal(code, name));
  const now = /\bnew Date(\(\)|(?![\w(]))|(?<![\w.])(?<!new )Date\(/.test(code) ? ['new Date()'] : [];
  return [...modules, ...used, ...now];
}

/**
 * Reports whether the code uses a global as a call, a member or a value; not as a property, a key, a parameter or a
 * name that the file itself declares.
 */
function usesGlobal(code: string, name: string): boolean {
  const [word = ''] = name.split('.');
  if (new RegExp(`\\b(?:const|let|function|class) (?:${word}\\b|\\{[^}]*\\b${word}\\b[^}]*\\})`).test(code))
    return false;
  return new RegExp(`(?<![\\w.#'-])${name.replace('.', '\\.')}(?=\\.|\\(|\\[)`).test(code);
}

function withoutTexts(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
    .replace(/(^|\s)\/\/.*$/gm, '');
}

function wrongArrows(arrows: ReadonlyMap<string, readonly string[]>): string[] {
  return [...arrows].flatMap(([file, targets]) =>
    targets
      .filter((target) => roomOf(target) !== roomOf(file))
      .filter((target) => !MAY_IMPORT[roomOf(file)]?.includes(roomOf(target)))
      .map((target) => `${file} → ${target}`),
  );
}

function findCycle(): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const target of imports.get(file) ?? []) {
      const cycle = visit(target, [...trail, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of files) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}

function importsOf(file: string): string[] {
  return specifiersOf(read(file))
    .filter((specifier) => specifier.startsWith('.') && specifier.endsWith('.ts'))
    .map((specifier) => normalize(join(dirname(file), specifier)));
}

function specifiersOf(source: string): string[] {
  const pattern = /(?:\bfrom\s+|\bimport\s+|\bimport\()'([^']+)'/g;
  return [...source.matchAll(pattern)].map((match) => match[1] ?? '');
}

function roomOf(file: string): string {
  return file.split('/')[1] ?? '';
}

function read(file: string): string {
  return readFileSync(join(root(), file), 'utf8');
}

function root(): string {
  return join(import.meta.dirname, '..');
}
