import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Checks that the page on attacks is complete: each attack has a section, a test that runs with `npm test`, and a note
 * on what a sandbox adds.
 */
const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
const sections = page.split(/^## /m).flatMap((text) => {
  const number = /^(\d+)\. /.exec(text)?.[1];
  return number === undefined ? [] : [[Number(number), text] as const];
});

/**
 * The tests behind each row of the first table with an unconditional `no`, or one for injected keys: a file, and words
 * of the test's name.
 */
const PROOFS: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  "read your repository's main checkout and other worktrees": [
    ['test/attacks/sandbox/must-fail.ts', 'see the main checkout'],
    ['test/attacks/sandbox/must-fail.ts', 'see or write another worktree'],
  ],
  'read your home: keys, browser, shell history': [
    ['test/attacks/sandbox/must-fail.ts', 'read a private key of the user'],
    ['src/sandbox/plan/plan-mounts.test.ts', 'HOME'],
  ],
  'change or delete files outside its worktree': [
    ['test/e2e/attack-15-sandbox.int.test.ts', 'change the main checkout'],
  ],
  'see or end your other processes': [
    ['test/attacks/sandbox/must-fail.ts', 'see processes outside, or signal them'],
    ['test/e2e/attack-15-sandbox.int.test.ts', 'end the daemon'],
  ],
  'push, or move the main branch': [
    ['test/e2e/attack-15-sandbox.int.test.ts', 'hooks, info/attributes, main'],
    ['test/e2e/sandbox-user.long.test.ts', 'leave the git directory closed'],
  ],
  'approve or merge its own work': [
    ['test/e2e/attack-02-own-work.int.test.ts', 'gives an author neither the review nor the merge of its own work'],
    ['test/attacks/02-own-work.int.test.ts', ''],
  ],
  'spend more than its budget': [
    ['src/sandbox/network/injection.int.test.ts', 'is refused once a budget is used up, and nothing reaches the API'],
    ['src/sandbox/network/injection.int.test.ts', 'that Baton cannot count is refused before the API has all of it'],
    ['src/sandbox/network/meter/read-usage.test.ts', 'counts by the time, also of a whole answer, if it names'],
    ['src/supervisor/stream/request-gate.test.ts', 'lets a budget be exceeded by one request at most'],
    ['src/supervisor/stream/usage-meter.int.test.ts', 'is what Baton has measured where it injects the key'],
  ],
  'change the ledger': [['test/e2e/attack-15-sandbox.int.test.ts', 'write the ledger, or end the daemon']],
};

/** The tests of attacks that need no scene of their own, or that are too slow for `npm test`. */
const ELSEWHERE: Readonly<Record<number, string>> = {
  // A reader outside of Baton is attacked, so no daemon takes part.
  19: 'test/outside/outside.int',
  20: 'test/outside/outside.int',
  21: 'test/attacks/21-flood.int',
  22: 'src/daemon/http/github-webhook.int',
  23: 'src/state/packet/impostors',
};

const NO = /^(?:with an injected key, no\b.*|no)$/;

describe('docs/security.md', () => {
  it('says no without a condition only where tests prove it', () => {
    const [, table = ''] = page.split('| an agent can |');
    const rows = (table.split('\n\n')[0] ?? '').split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const denied = rows.filter((cells) => cells.slice(2).some((cell) => NO.test(cell))).map(([, what = '']) => what);
    expect(denied.toSorted()).toEqual(Object.keys(PROOFS).toSorted());
    const proofs = Object.values(PROOFS).flat();
    expect(proofs.filter(([file, name]) => !readFileSync(join(root, file), 'utf8').includes(name))).toEqual([]);
  });

  it('numbers its attacks in order', () => {
    const numbers = sections.map(([number]) => number);
    expect(numbers.length).toBeGreaterThanOrEqual(15);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  });

  it.each(sections)('describes what stops attack %i and what only the sandbox stops', (_, text) => {
    expect(text).toMatch(/what stops it/i);
    expect(text).toMatch(/only (?:the|a)\s+sandbox|sandbox\s+does\s+not\s+help/i);
  });

  it.each(sections)('has an end-to-end test of attack %i', (number) => {
    const test = ELSEWHERE[number] ?? `test/e2e/attack-${String(number).padStart(2, '0')}-*.int`;
    expect(globSync(`${test}.test.ts`, { cwd: root })).toHaveLength(1);
  });

  it('names tests that exist, at least one with variants for each attack', () => {
    const rows = [...page.matchAll(/^\| (\d+) \|(.*)\|$/gm)].map(([, number, cells = '']) => [
      Number(number),
      [...cells.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file = '']) => file),
    ]);
    expect(rows.map(([number]) => number)).toEqual(sections.map(([number]) => number));
    expect(rows.filter(([, files]) => Array.isArray(files) && files.length === 0)).toEqual([]);
    const named = [...page.matchAll(/`((?:src|test)\/[^`*]+\.ts)`/g)].map(([, file = '']) => file);
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('has every file of test/attacks in its table', () => {
    const files = globSync('test/attacks/*.int.test.ts', { cwd: root });
    expect(files.filter((file) => !page.includes(`\`${file}\``))).toEqual([]);
  });
});
