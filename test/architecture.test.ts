import { readFileSync, globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The rooms of `src/` and what each may look into, besides itself. A room that is missing here fails the test: adding a
 * room is a decision, made in this table.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  ledger: ['protocol'],
  state: ['protocol', 'ledger'],
  runbook: ['protocol'],
  engine: ['protocol', 'state'],
  git: ['protocol'],
  github: ['protocol', 'git', 'notify'],
  api: ['protocol'],
  watchdog: ['protocol', 'api'],
  mcp: ['protocol', 'api'],
  notify: ['protocol'],
  streams: ['protocol'],
  exchange: ['protocol'],
  // One small process per agent: whatever it imports, it carries two hundred times.
  supervisor: ['protocol', 'api', 'streams'],
  agents: ['protocol', 'api', 'supervisor'],
  hooks: ['protocol', 'api', 'agents', 'supervisor'],
  effects: ['protocol', 'state', 'engine', 'runbook', 'git', 'github', 'api', 'notify', 'agents', 'supervisor'],
  daemon: [
    'protocol',
    'ledger',
    'state',
    'runbook',
    'engine',
    'effects',
    'git',
    'github',
    'api',
    'mcp',
    'notify',
    'agents',
    'supervisor',
    'watchdog',
  ],
  // Of the daemon its fold (`ledger verify`); of it, the supervisor and the agents else only their programs: `baton up --foreground`, `agent hook stop`, `agent play`.
  cli: [
    'protocol',
    'ledger',
    'runbook',
    'git',
    'api',
    'mcp',
    'notify',
    'exchange',
    'daemon',
    'supervisor',
    'agents',
    'hooks',
  ],
};

const files = globSync('src/**/*.ts', { cwd: root() }).filter((file) => !/\.(test|cases)\.ts$/.test(file));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

describe('the arrows of the architecture', () => {
  it('has every room in the table', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in MAY_IMPORT))).toEqual([]);
  });

  it('lets no import point the wrong way', () => {
    expect(wrongArrows(imports)).toEqual([]);
  });

  it('has no cycle between files', () => {
    expect(findCycle()).toBeUndefined();
  });

  it('keeps protocol free of Node', () => {
    const wrong = files
      .filter((file) => roomOf(file) === 'protocol')
      .filter((file) => /from 'node:|import\('node:|\bprocess\.|\bBuffer\b/.test(read(file)));
    expect(wrong).toEqual([]);
  });

  it('would notice an arrow that points the wrong way', () => {
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
