import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DOCUMENTED_CODES, findUndocumentedCodes } from './documented-codes.ts';

const root = join(import.meta.dirname, '..');

/**
 * Codes in the source: a `code` field, the first argument of a function that makes a problem, or a text that begins
 * with a room's name.
 */
const CODE =
  /(?:code: |(?:[pP]roblem|[fF]inding|refusal)\(\s*)'([a-z][a-z0-9/-]+)'|['`]((?:xml|handoff|ledger|git|github|runbook)\/[a-z0-9-]+)/g;

/** Codes that a condition chooses, such as `const code = isKnown ? 'ambiguous' : 'no-such-handoff'`. */
const CHOSEN = /\b[cC]ode\b[^;\n]*?'([a-z][a-z0-9]*(?:[-/][a-z0-9]+)+)'(?: : '([a-z][a-z0-9/-]+)')?/g;

const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !/\.(test|cases)\.ts$/.test(file));
const given = new Set(
  sources.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(CODE), ...text.matchAll(CHOSEN)].flatMap(([, ...codes]) => codes.filter(Boolean));
  }),
);
/** Prefixes of composed codes: `handoff/invalid-` is followed by the name of a format. */
const stems = [...given].filter((code) => code.endsWith('-'));

it('docs/errors.md has every code', () => {
  expect([...given].filter((code) => !code.endsWith('-') && !DOCUMENTED_CODES.has(code))).toEqual([]);
});

it('docs/errors.md lists only codes that src returns', () => {
  const text = sources.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  const isGiven = (code: string) => text.includes(`'${code}'`) || stems.some((stem) => code.startsWith(stem));
  expect([...DOCUMENTED_CODES].filter((code) => !isGiven(code))).toEqual([]);
});

it.each([
  ['', 'Error: it failed [usage]\n  hint: x [of-no-code]\n', []],
  ['', 'Note: x\nError: it failed \u001B[2m[not-a-code]\u001B[0m\n', ['not-a-code']],
  ['{"id":1}\n{"error":{"code":"not-a-code","message":"m","hint":""}}\n', '', ['not-a-code']],
] as const)('an error without an entry is found in what a command printed: %j %j', (out, err, codes) => {
  expect(findUndocumentedCodes(out, err)).toEqual(codes);
});
