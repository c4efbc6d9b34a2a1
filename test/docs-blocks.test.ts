import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseScript } from '../src/agents/scripted/script.ts';
import { parseRunbook } from '../src/runbook/check/check-runbook.ts';
import { parseHandoff } from '../src/protocol/handoff/index.ts';
import type { Parsed } from '../src/protocol/shape/problem.ts';
import { ALL_PAGES, type Block, countFences, findIndentedBlocks, PAGES, readBlocks, ROOT } from './docs/blocks.ts';

/** Each fenced block of the documentation runs, is checked as a file, or gives a reason for neither. */
const blocks = ALL_PAGES.flatMap((page) => readBlocks(page));

/** Returns the fault of a block in this language. A block in any other language needs a reason. */
const CHECKS: Readonly<Record<string, (block: Block) => string | undefined>> = {
  console: isRun,
  sh: isRun,
  ts: isRun,
  // `contributing.int.test.ts` applies these.
  diff: ({ page }) => (page === 'CONTRIBUTING.md' ? undefined : 'nothing applies it'),
  // `outside/outside.int.test.ts` runs these.
  python: ({ page }) => (page === 'docs/ledger.md' ? undefined : 'nothing runs it'),
  json: ({ text }) => (JSON.parse(text) === undefined ? 'no JSON' : undefined),
  yaml: checkFile,
  toml: checkFile,
  xml: ({ text }) => problemIn(parseHandoff(text)),
};

/** Reports whether `docs.test.ts` runs the block. */
function isRun({ page }: Block): string | undefined {
  return PAGES.includes(page) ? undefined : 'no test runs the blocks of this page';
}

/** Checks a runbook, or an agent's script. */
function checkFile({ language, text }: Block): string | undefined {
  const isScript = text.startsWith('# agents/');
  return problemIn(isScript ? parseScript(text) : parseRunbook(text, `baton.${language}`));
}

function problemIn(parsed: Parsed<unknown>): string | undefined {
  return parsed.ok ? undefined : parsed.problems[0].message;
}

function checkBlock(block: Block): string | undefined {
  const { reason, runAs, sameAs, language, text } = block;
  if (sameAs !== undefined) return text === readFileSync(join(ROOT, sameAs), 'utf8') ? undefined : `not as ${sameAs}`;
  if (reason !== undefined) return reason.includes(' ') ? undefined : 'a reason has a few words';
  if (runAs !== undefined) return text.includes(runAs.split(' ', 2).join(' ')) ? undefined : `does not show ${runAs}`;
  const check = CHECKS[language];
  return check === undefined ? 'write `not run: REASON` after the language' : check(block);
}

describe('the blocks of the documentation', () => {
  it('are all found', () => {
    expect(ALL_PAGES.filter((page) => readBlocks(page).length * 2 !== countFences(page))).toEqual([]);
  });

  it('are fenced, so that each has a language', () => {
    // Excludes the generated page, which has the usage of each command; another test compares it with the code.
    const written = PAGES.filter((page) => page !== 'docs/reference/cli.md');
    expect(written.flatMap((page) => findIndentedBlocks(page).map((line) => `${page}: ${line}`))).toEqual([]);
  });

  it.each(blocks.map((block) => ({ ...block, where: `${block.page}:${block.line}` })))(
    '$where runs, or says why not',
    (block) => {
      expect(checkBlock(block)).toBeUndefined();
    },
  );

  it('are valid shell', () => {
    const wrong = blocks
      .filter(({ language }) => language === 'sh')
      .filter(({ text }) => spawnSync('bash', ['-n'], { input: text }).status !== 0);
    expect(wrong.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });
});
