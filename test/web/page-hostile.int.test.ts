import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { readDaemonRecord } from '../../src/api/state-folder.ts';
import { openBrowser } from './open-browser.ts';
import { PageWorld, type Visit } from './page-world.ts';

let browser: Browser;
let page: PageWorld;
let visit: Visit;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => browser.close());
beforeEach(async () => {
  page = await PageWorld.open();
  visit = await page.visit(browser);
});
afterEach(async () => page[Symbol.asyncDispose]());

const HOSTILE: Readonly<Record<string, string>> = {
  H001: '<script>globalThis.pwned = 1</script><img src=x onerror="globalThis.pwned = 1">',
  H002: 'javascript:globalThis.pwned=1',
  H003: '\u001b]8;;javascript:alert(1)\u0007click\u001b]8;;\u0007 \u001b[2J\u001b[31mred',
  H004: 'safe \u202Eevil\u2066 \u200Bhidden',
  H005: `Z${'\u0301\u0489'.repeat(120)}algo`,
  H006: `x${'without_any_space'.repeat(14)}`,
};

it('shows hostile text as text: nothing runs, and nothing covers or reorders other text', async () => {
  for (const [task_id, title] of Object.entries(HOSTILE)) await page.world.order('task_create', { task_id, title });
  const notes = `${HOSTILE['H001']}\n${HOSTILE['H003']}\n${'\u0301'.repeat(1000)}`;
  await page.world.order('task_update', { task_id: 'H006', status: 'blocked', notes });
  const { page: of } = visit;
  for (const address of ['/tasks', '/tasks/H001', '/tasks/H005', '/inbox', '/ledger', '/ledger/5', '/work/task:H003']) {
    await page.go(of, address);
    await of.locator('.view bdi').first().waitFor();
    expect(await of.evaluate('globalThis.pwned')).toBeUndefined();
    expect(await of.evaluate(FOREIGN_ELEMENTS)).toEqual([]);
    expect(await of.evaluate(UNSAFE_TEXT)).toEqual([]);
    expect(await of.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  }
  await page.go(of, '/tasks');
  await of.locator('[data-task="H005"]').waitFor();
  const heights = await of.evaluate<number[]>(
    `[...document.querySelectorAll('[data-row]')].map((row) => row.getBoundingClientRect().height)`,
  );
  expect(new Set(heights)).toEqual(new Set([32]));
  expect(visit.red).toEqual([]);
});

/** Elements that only markup in a title could create, and links that run a script. */
const FOREIGN_ELEMENTS = `[...document.querySelectorAll('#app script, #app img, #app iframe, #app b, a[href^="javascript" i]')].map((found) => found.outerHTML)`;

/** Characters that reorder or hide text, or stack up. */
const UNSAFE_TEXT = String.raw`(document.body.textContent.match(/[\u202a-\u202e\u2066-\u2069\u200b\u001b\u0007]|\p{M}{5,}/gu) ?? [])`;

it('gives another origin nothing: no frame, no data, no effect', async () => {
  const { port = 0 } = readDaemonRecord(page.world.stateDir) ?? {};
  const foreign = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<body>foreign'));
  foreign.listen(0, '127.0.0.1');
  await once(foreign, 'listening');
  try {
    const of = await visit.context.newPage();
    await of.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
    expect(await of.evaluate(readFrom(`http://127.0.0.1:${port}/v1/status_get`))).toBe('refused');
    expect(await of.evaluate(readFrom(`http://127.0.0.1:${port}/v1/page/greeting`))).toBe('refused');
    // The page's key is bound to its origin: a script of another port cannot find it.
    const databases = await of.evaluate<unknown[]>('indexedDB.databases()');
    expect(databases).toEqual([]);
    await of.setContent(`<iframe src="http://127.0.0.1:${port}/"></iframe>`);
    await of.locator('iframe').waitFor();
    expect(of.frames().some((frame) => frame.url().startsWith(`http://127.0.0.1:${port}`))).toBe(false);
  } finally {
    foreign.closeAllConnections();
    foreign.close();
  }
});

function readFrom(url: string): string {
  return `fetch(${JSON.stringify(url)}, { method: 'POST', body: '{"challenge":"AAAAAAAAAAAAAAAAAAAAAAAA"}' })
    .then((response) => response.text()).catch(() => 'refused')`;
}

it('needs a key: a browser without one sees nothing, and a used code opens nothing', async () => {
  const address = await page.address();
  const first = await browser.newContext();
  const second = await browser.newContext();
  try {
    const [one, two] = [await first.newPage(), await second.newPage()];
    await one.goto(address);
    await one.locator('.foot .state.good').waitFor();
    expect(one.url()).not.toContain('code');
    await two.goto(address);
    await two.locator('.locked').waitFor();
    await two.goto(address.replace(/#.*/, ''));
    await two.reload();
    await two.locator('.locked').filter({ hasText: 'This browser has no key' }).waitFor();
    expect(await two.locator('.frame').count()).toBe(0);
    // The first browser still has access after a reload, without a code.
    await one.reload();
    await one.locator('.foot .state.good').waitFor();
    await page.world.order('page_key_revoke', { all: true });
    await one.locator('.locked').filter({ hasText: 'no longer accepts the key' }).waitFor();
  } finally {
    await first.close();
    await second.close();
  }
});
