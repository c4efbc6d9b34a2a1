import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readDaemonRecord } from '../../src/api/state-folder.ts';
import { inLongLane } from '../lanes.ts';
import { until } from '../processes/until.ts';
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
  page = await PageWorld.open({ imports: [join(import.meta.dirname, 'failing-calls.mjs')] });
  visit = await page.visit(browser);
});
afterEach(async () => page[Symbol.asyncDispose]());

const foot = (of: Page = visit.page) => of.locator('.foot');
const shows = async (text: string | RegExp, of: Page = visit.page): Promise<void> =>
  foot(of).filter({ hasText: text }).waitFor();
const verdict = () => visit.page.locator('.verdict');
const CALM = /nothing needs you/i;

/** Checks that the verdict was never shown as calm meanwhile. */
async function neverCalm(during: () => Promise<void>): Promise<void> {
  await visit.page.evaluate(`globalThis.seen = [];
    new MutationObserver(() => seen.push(document.body.textContent))
      .observe(document.body, { childList: true, subtree: true, characterData: true });`);
  await during();
  const seen = await visit.page.evaluate<string[]>('seen');
  expect(seen.filter((text) => CALM.test(text))).toEqual([]);
}

describe('the page without its daemon', () => {
  it('reports within 5 s that the daemon is hung, shows no verdict, and continues when the daemon does', async () => {
    await verdict().filter({ hasText: CALM }).waitFor();
    page.world.freezeDaemon();
    try {
      const began = performance.now();
      await shows('The daemon does not respond');
      expect(performance.now() - began).toBeLessThan(5000);
      expect(await verdict().textContent()).toContain('Not known');
      expect(await visit.page.title()).toBe('away · Baton');
      await neverCalm(async () => shows(/away [4-9] s/));
    } finally {
      page.world.thawDaemon();
    }
    // For a while the daemon reports that it was slow.
    await verdict()
      .filter({ hasText: /needs? you/i })
      .waitFor();
    await shows('live');
  });

  inLongLane(() => {
    it('recognizes a foreign server on its port, sends it nothing but a challenge, and continues with its own daemon', async () => {
      const { port = 0 } = readDaemonRecord(page.world.stateDir) ?? {};
      await page.world.endDaemon('SIGKILL');
      await shows('The daemon cannot be reached');
      const got: string[] = [];
      const foreign = createServer((request, response) => {
        got.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
        response.end('{"ok":true,"result":{"instance":"i","signature":"AAAA","public_key":"AAAA"}}');
      });
      foreign.listen(port, '127.0.0.1');
      await once(foreign, 'listening');
      try {
        await shows('Another program answers on this port');
        expect(new Set(got)).toEqual(new Set(['POST /v1/page/greeting ']));
      } finally {
        foreign.closeAllConnections();
        foreign.close();
        await once(foreign, 'close');
      }
      await page.world.startDaemon();
      await shows('live');
      await page.world.order('task_create', { task_id: 'T900', title: 'made after the daemon came back' });
      await page.go(visit.page, '/tasks');
      await visit.page.locator('[data-task="T900"]').waitFor();
    });
  });

  const CALLS: readonly (readonly [address: string, operation: string])[] = [
    ['/inbox', 'status_get'],
    ['/inbox/DECISION', 'decision_show'],
    ['/ledger', 'entries_read'],
    ['/ledger/2', 'ledger_export'],
    ['/tasks', 'state_snapshot'],
    ['/tasks/TASK', 'task_view'],
    ['/work/task:TASK', 'state_snapshot'],
    ['/work/task:TASK/messages', 'entries_read'],
    ['/session/AGENT', 'agent_log'],
    ['/session/AGENT', 'agent_show'],
    ['/fleet/costs', 'costs_get'],
  ];

  inLongLane(() => {
    it('shows each failed call in place of its answer, and recovers', { timeout: 180_000 }, async () => {
      const names = await askAndRun();
      for (const [address, operation] of CALLS) {
        const path = address.replace(/TASK|AGENT|DECISION/g, (name) => names[name] ?? name);
        page.world.tellDaemon(operation);
        // A new browser has no data yet that it could show instead.
        const fresh = await page.visit(browser);
        await page.go(fresh.page, path);
        await fresh.page.locator('.view .failure').first().waitFor();
        await shows('live', fresh.page);
        page.world.tellDaemon('');
        await fresh.page.locator('.view .failure').first().waitFor({ state: 'detached' });
        expect(await foot(fresh.page).textContent()).toContain('live');
        await fresh.context.close();
      }
    });
  });

  /** Opens a decision about a task, and starts an agent. */
  async function askAndRun(): Promise<Readonly<Record<string, string>>> {
    const id = await page.startWorkflow('Read durations back', 'supervised');
    const { id: agent } = await page.world.order('run_start', { name: 'talker', kind: 'agent' });
    const decision = await until('a person is asked', async () => {
      const { needs_you } = await page.world.order('status_get', {});
      return (needs_you as { id: string; task_id: string | null }[]).find(({ task_id }) => task_id === id)?.id;
    });
    return { TASK: id, AGENT: String(agent), DECISION: decision };
  }

  it('recovers by itself after its event stream was cut, and misses nothing', async () => {
    await page.go(visit.page, '/tasks');
    page.world.tellDaemon('cut');
    await page.world.order('task_create', { task_id: 'T001', title: 'made while the stream was cut' });
    await visit.page.locator('[data-task="T001"]').waitFor();
    await shows('live');
    expect(visit.red).toEqual([]);
  });
});

inLongLane(() => {
  it('serves eight tabs with one event stream', async () => {
    const tabs = [visit.page];
    for (let n = 1; n < 8; n += 1) {
      const tab = await visit.context.newPage();
      await tab.goto(visit.page.url());
      tabs.push(tab);
    }
    await Promise.all(tabs.map(async (tab) => shows('live', tab)));
    await Promise.all(tabs.map(async (tab) => page.go(tab, '/tasks')));
    await page.world.order('task_create', { task_id: 'T001', title: 'seen by all' });
    await Promise.all(tabs.map(async (tab) => tab.locator('[data-task="T001"]').waitFor()));
    const { out } = page.world.baton(['web', 'keys', '--json']);
    expect((JSON.parse(out) as { keys: unknown[] }).keys).toHaveLength(1);
  });
});
