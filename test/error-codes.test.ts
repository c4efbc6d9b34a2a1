import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/**
 * Codes in the source: a `code` field, the first argument of a function that makes a problem, or a text that begins
 * with a room's name.
 */
const CODE =
  /(?:code: |(?:[pP]roblem|[fF]inding|refusal)\(\s*)'([a-z][a-z0-9/-]+)'|['`]((?:xml|handoff|ledger|git|github|runbook)\/[a-z0-9-]+)/g;

const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !/\.(test|cases)\.ts$/.test(file));
const given = new Set(
  sources.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(CODE)].map((match) => match[1] ?? match[2] ?? ''),
  ),
);
const documented = new Set(
  [...readFileSync(join(root, 'docs/errors.md'), 'utf8').matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', ').map((code) => code.replaceAll('`', '')),
  ),
);
/** Prefixes of composed codes: `handoff/invalid-` is followed by the name of a format. */
const stems = [...given].filter((code) => code.endsWith('-'));

it('docs/errors.md has every code', () => {
  expect([...given].filter((code) => !code.endsWith('-') && !documented.has(code))).toEqual([]);
});

it('docs/errors.md lists only codes that src returns', () => {
  const text = sources.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  const isGiven = (code: string) => text.includes(`'${code}'`) || stems.some((stem) => code.startsWith(stem));
  expect([...documented].filter((code) => !isGiven(code))).toEqual([]);
});
