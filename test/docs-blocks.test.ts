import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseScript } from '../src/agents/scripted/script.ts';
import { parseRunbook } from '../src/runbook/check/check-runbook.ts';
import { type Block, PAGES, readBlocks, ROOT } from './docs/blocks.ts';

/** Each fenced block of the documentation runs, is checked as a file, or says why it does neither. */
const blocks = PAGES.filter((page) => page !== 'README.md').flatMap((page) => readBlocks(page));

/** How a block of a language is tested; a block of any other language needs a reason. */
const CHECKS: Readonly<Record<string, (block: Block) => unknown>> = {
  // Run by docs.test.ts.
  console: () => undefined,
  ts: () => undefined,
  // Run by outside/outside.int.test.ts.
  python: ({ page }) => expect(page).toBe('docs/ledger.md'),
  json: ({ text }) => JSON.parse(text),
  yaml: checkFile,
  toml: checkFile,
};

/** A runbook, or the script of an agent. */
function checkFile({ language, text }: Block): void {
  const isScript = text.startsWith('# agents/');
  const parsed = isScript ? parseScript(text) : parseRunbook(text, `baton.${language}`);
  expect(parsed).toMatchObject({ ok: true });
}

describe('the blocks of the documentation', () => {
  it('are all found', () => {
    const fences = PAGES.map((page) => readFileSync(join(ROOT, page), 'utf8')).flatMap(
      (text) => text.match(/^```/gm) ?? [],
    );
    expect(PAGES.flatMap((page) => readBlocks(page))).toHaveLength(fences.length / 2);
  });

  it.each(blocks.map((block) => ({ ...block, where: `${block.page}:${block.line}` })))(
    '$where runs, or says why not',
    (block) => {
      if (block.reason !== undefined || block.runAs !== undefined) return;
      expect(Object.keys(CHECKS), 'write `not run: REASON` after the language').toContain(block.language);
      CHECKS[block.language]?.(block);
    },
  );

  it('are valid shell', () => {
    const wrong = blocks
      .filter(({ language }) => language === 'sh')
      .filter(({ text }) => spawnSync('bash', ['-n'], { input: text }).status !== 0);
    expect(wrong.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });
});
