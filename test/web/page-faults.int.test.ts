import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { someOf } from '../lanes.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { openBrowser } from './open-browser.ts';

const RUNBOOK = `
[notify]
desktop = false

[agents.silent]
run = "true"

[pipelines.careful]
steps = [{ name = "review", run = { agent = "silent" } }]
`;

let browser: Browser;
let world: World;
let page: Page;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => browser.close());
beforeEach(async () => {
  world = new World();
  world.commit(world.repository, { 'baton.toml': RUNBOOK }, 'a runbook');
  await world.startDaemon();
  page = await openPage();
});
afterEach(async () => {
  await page.close();
  await world[Symbol.asyncDispose]();
});

async function openPage(): Promise<Page> {
  const opened = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  opened.setDefaultTimeout(30_000);
  await opened.addInitScript(FASTER);
  await opened.goto(world.baton(['web']).out.trim());
  return opened;
}

/** The deadlines of the page are for people; here they pass three times as fast. */
const FASTER = `for (const [on, name, at] of [[AbortSignal, 'timeout', 0], [globalThis, 'setTimeout', 1], [globalThis, 'setInterval', 1]]) {
  const original = on[name].bind(on);
  on[name] = (...args) => original(...args.with(at, args[at] / 3));
}`;

const standing = (of = page) => of.locator('#standing');
const shows = async (text: string, of = page): Promise<void> => standing(of).filter({ hasText: text }).waitFor();

/** The page never shows the all-clear while this runs. */
async function neverCalm(during: () => Promise<void>): Promise<void> {
  await page.evaluate(`globalThis.seen = [];
    new MutationObserver(() => seen.push(document.body.textContent))
      .observe(document.body, { childList: true, subtree: true, characterData: true });`);
  await during();
  const seen = await page.evaluate<string[]>('seen');
  expect(seen.filter((text) => /nothing needs you/i.test(text))).toEqual([]);
}

/** How often the status was asked for, and the question was settled somehow. */
const ASKED = `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/status_get')).length`;

const SLEPT = `(() => {
  const now = Date.now;
  Date.now = () => now() + 60_000;
  dispatchEvent(new Event('focus'));
  return document.getElementById('standing').textContent;
})()`;

describe('the page, while the daemon is there and does not answer', () => {
  it('takes its verdict back, and shows it again when the daemon goes on', { timeout: 90_000 }, async () => {
    await shows('Nothing needs you');
    // The machine slept for a minute: what was shown before is taken back before anything is asked.
    expect(await page.evaluate<string>(SLEPT)).toContain('The daemon does not answer');
    await shows('Nothing needs you');
    process.kill(world.daemonPid, 'SIGSTOP');
    try {
      await shows('The daemon does not answer');
      expect(await page.title()).toBe('(?) Baton');
      expect(await page.locator('#needs').textContent()).toBe('not known without an answer');
      // A page that is opened anew has not even been served.
      await neverCalm(async () => {
        await until('it was asked again, and again without an answer', async () => {
          const asked = await page.evaluate<number>(ASKED);
          return asked > 2;
        });
      });
    } finally {
      process.kill(world.daemonPid, 'SIGCONT');
    }
    await shows('Nothing needs you');
  });

  const BROKEN: Readonly<Record<string, { status: number; body: string } | 'abort'>> = {
    'status_get: not JSON': { status: 200, body: 'oops' },
    'status_get: no verdict': { status: 200, body: '{"ok":true,"result":{"tasks":{},"needs_you":[],"attention":[]}}' },
    'status_get: refused': {
      status: 503,
      body: '{"ok":false,"error":{"code":"store-unavailable","message":"no store","hint":"Look."}}',
    },
    'task_list: cut off': 'abort',
    'costs_get: not JSON': { status: 500, body: '' },
  };

  it('shows no verdict while any of its calls fails', { timeout: 90_000 }, async () => {
    await shows('Nothing needs you');
    for (const [name, how] of someOf(Object.entries(BROKEN), 1, 3)) {
      const path = `**/v1/${name.split(':')[0] ?? ''}`;
      await page.route(path, async (route) => (how === 'abort' ? route.abort() : route.fulfill(how)));
      await standing().and(page.locator('.away')).waitFor();
      expect(await page.locator('body').textContent()).not.toMatch(/nothing needs you/i);
      await page.unroute(path);
      await shows('Nothing needs you');
    }
  });
});

interface Status {
  readonly summary: string;
  readonly needs_you: readonly { readonly id: string; readonly status: string }[];
}

const status = async (): Promise<Status> => JSON.parse(world.baton(['status', '--json']).out) as Status;
const resolved = (): { id: string; result: { option: number } | null }[] =>
  (
    JSON.parse(world.baton(['decision', 'list', '--all', '--json']).out) as {
      decisions: { id: string; result: { option: number } | null }[];
    }
  ).decisions.filter(({ result }) => result !== null);

describe('decisions on the page', () => {
  it('are counted as in the CLI, and a double click answers one of them', { timeout: 90_000 }, async () => {
    for (let i = 0; i < 2; i++) expect(world.baton(['run', 'careful']).code).toBe(3);
    await shows('2 decisions need you');
    expect(await standing().textContent()).toBe((await status()).summary);
    expect(world.baton(['status']).out.split('\n')[0]).toBe((await status()).summary);
    // The option that cancels: the other decision moves up, under the pointer.
    const cancel = page.locator('#needs li').first().getByRole('button', { name: '4' });
    // Buttons that have just moved take no click: this waits until they do.
    await cancel.click({ trial: true });
    const at = await cancel.boundingBox();
    if (at === null) throw new Error('there is no button');
    const [x, y] = [at.x + at.width / 2, at.y + at.height / 2];
    await page.mouse.dblclick(x, y);
    // Slower than a double click, and still before anybody could have read what has moved there.
    await page.locator('#needs li').nth(1).waitFor({ state: 'detached' });
    await page.mouse.click(x, y);
    await shows('1 decision needs you');
    expect(await page.locator('#note').textContent()).toContain('Answered: 4 ');
    expect(resolved()).toHaveLength(1);
    expect((await status()).needs_you).toHaveLength(1);
  });

  it('that another tab has answered show what was chosen there', { timeout: 90_000 }, async () => {
    expect(world.baton(['run', 'careful']).code).toBe(3);
    const second = await openPage();
    try {
      await Promise.all([shows('1 decision needs you'), shows('1 decision needs you', second)]);
      // The second tab does not see that it is answered, until it answers itself.
      await second.route('**/v1/status_get', async (route) => route.abort());
      await standing(second).and(second.locator('.away')).waitFor();
      await page.locator('#needs li').first().getByRole('button', { name: '4' }).click();
      await shows('Nothing needs you');
      await second.locator('#needs li').first().getByRole('button', { name: '1' }).click();
      const note = second.locator('#note', { hasText: 'Already answered: 4 ' });
      await note.waitFor();
      expect(await note.textContent()).toMatch(/by operator/);
      expect(resolved().map(({ result }) => result?.option)).toEqual([4]);
    } finally {
      await second.close();
    }
  });
});

it('shows text of agents as text, with codes for what is not seen', { timeout: 60_000 }, async () => {
  const title = 'a \u202Eevil\u200B \u0085\u001B[2J<b>b</b>\u2028end';
  await world.order('task_create', { task_id: 'A', title: 'rtl \u05D0\u05D1' });
  await world.order('task_update', { task_id: 'A', status: 'blocked', notes: title });
  const note = page.locator('#blocked [data-task="A"] p bdi');
  await note.waitFor();
  expect(await note.textContent()).toBe('a \\u202eevil\\u200b \\u0085\\u001b[2J<b>b</b>\\u2028end');
  // Nothing that came from the daemon stands outside of an isolated element.
  expect(await page.evaluate<string[]>(BARE)).toEqual([]);
});

it('names the sandbox of each session, and marks one without', { timeout: 60_000 }, async () => {
  const box = { kind: 'bubblewrap', network: 'full', limits: null, notes: [], summary: 'bubblewrap, network full' };
  const boxes = { boxed: box, open: { ...box, kind: 'none', summary: 'no sandbox' }, unknown: null };
  const agents = Object.entries(boxes).map(([name, sandbox]) => ({ name, status: 'running', task_id: null, sandbox }));
  await page.route('**/v1/status_get', async (route) => {
    const response = await route.fetch();
    const { ok, result } = await response.json();
    await route.fulfill({ response, json: { ok, result: { ...result, agents } } });
  });
  await page.reload();
  const badge = page.locator('#agents .badge');
  await badge.waitFor();
  expect(await page.locator('#agents li').allTextContents()).toEqual([
    'boxed running bubblewrap, network full',
    'open running no sandbox',
    'unknown running',
  ]);
  expect(await badge.allTextContents()).toEqual(['no sandbox']);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

const BARE = `(() => {
  const walker = document.createTreeWalker(document.getElementById('board'), NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    if (node.parentElement.closest('bdi, h2') === null && node.textContent.trim() !== '') found.push(node.textContent);
  return found;
})()`;
