import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applyMutant, findMutants } from './mutants.ts';
import { pureFiles, Reach } from './reach.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Every text that a mutant of the code has. */
function mutantsOf(code: string): readonly string[] {
  return findMutants('x.ts', code).map((mutant) => applyMutant(code, mutant));
}

describe('the mutants of a file', () => {
  it.each([
    ['if (a) b();', ['if (false) b();', 'if (true) b();', 'if (a) ;']],
    ['x = a ? 1 : b;', ['x = !(a) ? 1 : b;', 'x = a ? 2 : b;']],
    ['x = a && b;', ['x = ((a) || (b));', 'x = (b);', 'x = (a);']],
    ['x = a ?? b;', ['x = (a);']],
    ['x = !a;', ['x = (a);']],
    ['x = a <= b;', ['x = a < b;']],
    ['x = a !== b;', ['x = a === b;']],
    ['x = a + b;', ['x = a - b;']],
    ["x = a + 'b';", []],
    ['x = [a];', ['x = [];']],
    ['x = [a, b];', ['x = [];', 'x = [b];', 'x = [a];']],
    ['x = { ...a, b };', ['x = { ...{}, b };']],
    ['x = a.some(f);', ['x = a.every(f);']],
    ['x = a.filter(f);', ['x = a;']],
    ['function f() { g(); }', ['function f() { ; }']],
    ['function f(): true { return true; }', ['function f(): true { return false; }']],
    ['type A = true;', []],
    ['const x = y as 1;', []],
  ])('of `%s`', (code, expected) => {
    expect(mutantsOf(code).toSorted()).toEqual(expected.toSorted());
  });

  it('name the line and the text that is changed', () => {
    expect(findMutants('x.ts', 'f();\nx = !a;')).toEqual([
      { file: 'x.ts', line: 2, kind: 'no negation', start: 9, end: 11, from: '!a', to: '(a)' },
    ]);
  });
});

describe('the tests of a file', () => {
  it('are those of the pure lane that import it, the nearest first', () => {
    const tests = new Reach(ROOT).testsOf('src/state/tasks/claim-task.ts');
    expect(tests[0]).toMatch(/^src\/state\//);
    expect(tests).toContain('src/simulator/simulation.test.ts');
    expect(tests.filter((each) => !each.endsWith('.test.ts') || each.includes('.int.'))).toEqual([]);
  });

  it('are looked for in the rooms that ARCHITECTURE.md calls pure', () => {
    const rooms = pureFiles(ROOT);
    expect([...rooms.keys()]).toContain('engine');
    expect(rooms.get('engine')).toContain('src/engine/kernel.ts');
    expect([...rooms.values()].every((files) => files.length > 0)).toBe(true);
  });
});
