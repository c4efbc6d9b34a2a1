import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FAULT_RUNS } from './faults/runs.ts';
import { DIALECTS } from './fuzz/dialects.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const readme = read('README.md');
const [, proof = ''] = /^## Proof$([^]*?)^## /m.exec(readme) ?? [];
const rows = proof
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, what = '', figure = '', command = '']) => ({ what, figure, command: command.replaceAll('`', '') }));
const figures = new Map(rows.map(({ command, figure }) => [command, figure]));

/** Checks by script whether a command of the table runs anything. */
const RUNS: Readonly<Record<string, (rest: string) => boolean>> = {
  test: (name) => globSync('{src,test,scripts}/**/*.test.ts', { cwd: ROOT }).some((path) => path.includes(name)),
  faults: (name) => FAULT_RUNS.some(([run]) => run.includes(name)),
  bench: (name) =>
    globSync('bench/*.ts', { cwd: ROOT }).some((path) => read(path).includes(`  name: '${name}',\n  async run() {`)),
  fuzz: (rest) => rest === '',
  'test:attacks': (rest) => rest === '',
  'test:clients': (rest) => rest === '',
};

describe("README's table of proof", () => {
  it('has rows', () => {
    expect(rows.length).toBeGreaterThan(7);
  });

  it.each(rows)('$command exists', ({ command }) => {
    const [, script = '', rest = ''] = /^npm (?:run )?([\w:]+)(?: (?:-- )?"?([^"]*)"?)?$/.exec(command) ?? [];
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
    expect(Object.keys(scripts)).toContain(script);
    expect(RUNS[script]?.(rest)).toBe(true);
  });

  it('counts what the commands run', () => {
    const [, processes = '', rounds = ''] =
      /proveRace\((\d+), (\d+)\)/.exec(read('test/e2e/claim-race.long.test.ts')) ?? [];
    expect(figures.get('npm test -- claim-race')).toContain(
      `${processes} processes race for one task, ${rounds} times`,
    );
    const attacks = new Set(globSync('test/e2e/attack-*.int.test.ts', { cwd: ROOT }).map((path) => path.slice(16, 18)));
    expect(figures.get('npm run test:attacks')).toContain(`${attacks.size} kinds of`);
    const messages = (DIALECTS.length * 100_000).toLocaleString('en');
    expect(figures.get('npm run fuzz')).toContain(`${messages} mutated messages, ${DIALECTS.length} parsers`);
  });

  it('names the versions of the clients that are tested', () => {
    const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
      read('test/clients/pinned/package.json'),
    );
    const named = figures.get('npm run test:clients')?.match(/\d+\.\d+\.\d+/g) ?? [];
    const agents = Object.entries(dependencies).filter(([name]) => !name.startsWith('@agentclientprotocol/'));
    expect(named.toSorted()).toEqual(agents.map(([, version]) => version).toSorted());
  });
});
