import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { WorkflowScene } from '../processes/workflow-scene.ts';
import { openBrowser } from './open-browser.ts';

let browser: Browser;
let scene: WorkflowScene;
let page: Page;
/** Whatever is red in the console. */
let red: string[];

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => browser.close());
beforeEach(async () => {
  scene = new WorkflowScene();
  await scene.start();
  red = [];
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(30_000);
  page.on('console', (message) => void (message.type() === 'error' && red.push(message.text())));
  page.on('pageerror', (error) => void red.push(error.message));
});
afterEach(async () => {
  await page.close();
  await scene.end();
});

/** The address that `baton web` prints. */
async function address(): Promise<string> {
  let out = '';
  const io = {
    env: scene.scene.env,
    cwd: scene.repository,
    isTerminal: false,
    out: (text: string) => void (out += text),
    err: (text: string) => void (out += text),
    readInput: async () => new Uint8Array(),
  };
  expect(await main(['web'], io)).toBe(0);
  return out.trim();
}

const standing = () => page.locator('#standing');

/** With PICTURES set to a folder, what the page looks like on a desk and on a telephone is kept there. */
async function picture(name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const [where, width] of [['desk', 1280] as const, ['phone', 390] as const]) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: join(folder, `${name}-${where}.png`), fullPage: true });
  }
}

describe('the page, in a browser', () => {
  it('does not show what is blocked as being at work', { timeout: 60_000 }, async () => {
    await scene.ask('task_create', { task_id: 'A', title: 'do it' });
    await scene.ask('task_update', { task_id: 'A', status: 'blocked', notes: 'no disk' });
    await scene.ask('task_create', { task_id: 'B', title: 'not wanted' });
    await scene.ask('task_cancel', { task_id: 'B', reason: 'too late' });
    await page.goto(await address());
    const cancelled = page.locator('#cancelled [data-task="B"]');
    await cancelled.waitFor();
    expect(await cancelled.textContent()).toContain('cancelled: too late');
    expect(await page.locator('#counts').textContent()).toBe('tasks 1 blocked, 1 cancelled');
    expect(await page.locator('#blocked [data-task]').count()).toBe(1);
    const line = page.locator('#blocked [data-task="A"]');
    await line.waitFor();
    expect(await line.textContent()).toContain('no disk');
    expect(await page.locator('#work [data-task]').count()).toBe(0);
    // Nobody is asked about it: it waits for a person all the same.
    const call = page.locator('#needs li', { hasText: 'Task is blocked: A do it' });
    await call.waitFor();
    expect(await call.textContent()).toContain('no disk');
    expect(await call.locator('code').textContent()).toBe('baton task unblock A --reason "…"');
    expect(await standing().textContent()).toBe('1 blocked task needs you, nothing runs.');
    expect(await page.title()).toBe('(1) Baton');
    scene.addRunbook('broken.toml', '[agent.a]\nrun = "true"\n');
    const broken = page.locator('#needs li', {
      hasText: 'broken.toml has errors; the last valid version stays in force',
    });
    await broken.waitFor();
    expect(await broken.locator('code').textContent()).toBe('baton runbook check');
    expect(await standing().textContent()).toBe('1 broken runbook, 1 blocked task need you, nothing runs.');
  });

  it(
    'shows a workflow as it goes on, without being loaded again, and nothing goes wrong',
    { timeout: 150_000 },
    async () => {
      await page.goto(await address());
      await standing().filter({ hasText: 'Nothing needs you, nothing runs.' }).waitFor();
      expect(new URL(page.url()).hash).not.toContain('token');
      await page.evaluate(() => Object.assign(globalThis, { isTheSame: true }));
      const id = await scene.run('issue', 'Read durations back <b>now</b>', '--mode', 'semi');
      const task = page.locator(`[data-task="${id}"]`);
      await task.locator('.stages .now', { hasText: 'implementer' }).waitFor();
      expect(await task.textContent()).toContain('Read durations back <b>now</b>');
      // A person is asked, and answers with a click.
      const ask = page.locator('#needs li', { hasText: 'ready for work' });
      await ask.waitFor();
      expect(await standing().textContent()).toContain('1 decision needs you');
      expect(await page.title()).toBe('(1) Baton');
      await picture('asked');
      await page.setViewportSize({ width: 1280, height: 900 });
      await ask.locator('button').first().click();
      await task.locator('.stages .now', { hasText: 'fixer' }).waitFor();
      await task.locator('.stages .failed', { hasText: 'ci' }).waitFor();
      await picture('fixer');
      await page.locator('#entries li', { hasText: 'HandoffDelivered' }).first().waitFor();
      expect(await page.evaluate(() => 'isTheSame' in globalThis)).toBe(true);
      expect(red).toEqual([]);
    },
  );

  it('tells whoever has a wrong token so, and lets them in with the right one', async () => {
    const url = await address();
    await page.goto(url.replace(/token=[^&]*/, 'token=wrong'));
    await standing().filter({ hasText: 'The daemon refused the token' }).waitFor();
    expect(await page.locator('#board').isVisible()).toBe(false);
    await picture('wrong-token');
    const token = new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? '';
    await page.locator('[name=token]').fill(token);
    await page.locator('#door button').click();
    await standing().filter({ hasText: 'Nothing needs you' }).waitFor();
    expect(await page.locator('#board').isVisible()).toBe(true);
  });

  it('asks whoever comes without a token', async () => {
    await page.goto((await address()).replace(/#.*/, ''));
    await standing().filter({ hasText: 'Sign in to see this project.' }).waitFor();
    expect(red).toEqual([]);
  });

  it('never looks calm while the daemon is away, and goes on when it is back', async () => {
    await page.goto(await address());
    await standing().filter({ hasText: 'Nothing needs you' }).waitFor();
    await scene.stop();
    await standing().filter({ hasText: 'The daemon cannot be reached' }).waitFor();
    expect(await page.locator('#needs').textContent()).toBe('not known without an answer');
    expect(await page.locator('body').textContent()).not.toContain('Nothing needs you');
    await picture('away');
    await scene.start();
    await standing().filter({ hasText: 'Nothing needs you' }).waitFor();
    await scene.ask('task_create', { task_id: 'T001', title: 'made after the daemon came back' });
    await page.locator('[data-task="T001"]').waitFor();
  });

  it('fits a narrow screen', async () => {
    await page.setViewportSize({ width: 360, height: 700 });
    await scene.ask('task_create', { task_id: 'T001', title: `a title ${'without_any_space_'.repeat(20)}` });
    await page.goto(await address());
    await page.locator('[data-task="T001"]').waitFor();
    const tooWide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(tooWide).toBeLessThanOrEqual(0);
  });
});
