import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLongLane, someOf } from '../lanes.ts';
import { openBrowser } from './open-browser.ts';
import { PageWorld, type Visit } from './page-world.ts';
import { seed } from './seed.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** An address, and its content once loaded. */
const VIEWS: readonly (readonly [address: string, content: string])[] = [
  ['/inbox', '[data-decision]'],
  ['/inbox/DECISION', '.detail button.primary'],
  ['/work', '.view [data-task]'],
  ['/work/task:TASK', '.detail svg:not(.patterns)'],
  ['/work/task:TASK/graph', '.detail svg:not(.patterns)'],
  ['/work/task:TASK/changes', '.detail .file'],
  ['/work/task:TASK/messages', '.detail li'],
  ['/work/task:TASK/entries', '.detail [data-seq]'],
  ['/session/AGENT', '[data-line]'],
  ['/tasks', '[data-task]'],
  ['/tasks/T007', '.detail svg:not(.patterns)'],
  ['/ledger', '[data-seq]'],
  ['/ledger/12', '.detail [data-seq], .detail code'],
  ['/fleet', '[data-agent]'],
  ['/fleet/hosts', '.facts'],
  ['/fleet/costs', 'svg, table'],
];

let browser: Browser;
let page: PageWorld;
let names: Readonly<Record<string, string>>;
let visits: Readonly<Record<'light' | 'dark', Visit>>;

beforeAll(async () => {
  browser = await openBrowser();
  page = await PageWorld.open();
  names = await seed(page, { isQuick: !isLongLane });
  visits = { light: await page.visit(browser), dark: await page.visit(browser, { theme: 'dark' }) };
});
afterAll(async () => {
  await page[Symbol.asyncDispose]();
  await browser.close();
});

async function show(of: Page, [address, content]: readonly [string, string]): Promise<void> {
  await page.go(
    of,
    address.replace(/TASK|AGENT|DECISION/g, (name) => names[name] ?? name),
  );
  await of.locator(content).first().waitFor();
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly any: readonly { readonly message: string }[] }[];
}

/** The serious violations that axe finds, with the first place of each. */
async function violationsOn(of: Page): Promise<string[]> {
  await of.evaluate(AXE);
  const found = await of.evaluate<Violation[]>('axe.run(document).then(({ violations }) => violations)');
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.any[0]?.message ?? ''}`);
}

describe('every view', () => {
  it.each(someOf(VIEWS, 0, 3, 11))('%s has no serious violation of accessibility, light and dark', async (...view) => {
    for (const { page: of, red } of [visits.light, visits.dark]) {
      await show(of, view);
      expect(await violationsOn(of)).toEqual([]);
      expect(red).toEqual([]);
    }
  });

  it.each(someOf(VIEWS, 0, 9))('%s fits a screen of 320 px', async (...view) => {
    const { page: of } = visits.light;
    await of.setViewportSize({ width: 320, height: 640 });
    await show(of, view);
    const tooWide = await of.evaluate('document.documentElement.scrollWidth - innerWidth');
    await of.setViewportSize({ width: 1440, height: 900 });
    expect(tooWide).toBeLessThanOrEqual(0);
  });
});

describe('the keyboard alone', () => {
  it('reaches every view, moves through rows, opens one and comes back', async () => {
    const { page: of } = visits.light;
    await show(of, ['/inbox', '[data-decision]']);
    for (const [letter, view] of [
      ['t', 'tasks'],
      ['w', 'work'],
      ['l', 'ledger'],
      ['f', 'fleet'],
      ['t', 'tasks'],
    ] as const) {
      await of.keyboard.press('g');
      await of.keyboard.press(letter);
      await of.waitForURL((url) => url.hash.includes(`/${view}`));
    }
    await of.locator('[data-task]').first().waitFor();
    await of.keyboard.press('j');
    await of.keyboard.press('j');
    await of.keyboard.press('Enter');
    await of.waitForURL((url) => /\/tasks\/\w+/.test(url.hash));
    await of.keyboard.press('Escape');
    await of.waitForURL((url) => url.hash.endsWith('/tasks'));
    await of.keyboard.press('Control+k');
    await of.getByRole('combobox', { name: 'Find anything' }).fill('T012');
    await of.getByRole('option').filter({ hasText: 'T012' }).waitFor();
    await of.keyboard.press('Enter');
    await of.waitForURL((url) => url.hash.endsWith('/tasks/T012'));
    await of.keyboard.press('?');
    await of.getByRole('dialog', { name: 'Keys' }).waitFor();
    await of.keyboard.press('Escape');
    expect(await of.getByRole('dialog').count()).toBe(0);
  });
});

it.runIf(isLongLane)('has no serious violation while the daemon is away', async () => {
  page.world.freezeDaemon();
  try {
    for (const { page: of } of [visits.light, visits.dark]) {
      await of.locator('.foot.away').waitFor();
      // Loaded views still show their content; the others show that they cannot be loaded.
      for (const [address, content] of VIEWS) {
        await show(of, [address, `.view :is(.failure, .loading, .empty, ${content})`]);
        expect([address, ...(await violationsOn(of))]).toEqual([address]);
      }
    }
  } finally {
    page.world.thawDaemon();
  }
});
