import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inLongLane } from '../lanes.ts';
import { until } from '../processes/until.ts';
import { openBrowser } from './open-browser.ts';
import { PageWorld, type Visit } from './page-world.ts';

let browser: Browser;
let page: PageWorld;
let visit: Visit;
let of: Page;

beforeAll(async () => {
  browser = await openBrowser();
  page = await PageWorld.open();
  visit = await page.visit(browser);
  of = visit.page;
});
afterAll(async () => {
  await page[Symbol.asyncDispose]();
  await browser.close();
});

/** Clicks until the click has had its effect, because a row that has just moved ignores clicks. */
async function press(target: Locator, effect: Locator): Promise<void> {
  await until('the click has had its effect', async () => {
    if (await effect.isVisible()) return true;
    await target.click({ timeout: 2000 }).catch(() => undefined);
    return effect.waitFor({ timeout: 1000 }).then(
      () => true,
      () => false,
    );
  });
}

/** Opens the decision about a task as soon as it is in the inbox. */
async function open(question: string): Promise<void> {
  await page.go(of, '/inbox');
  const row = of.locator('.rows [data-decision]:not(:has-text("Answered")) a', { hasText: question }).first();
  await row.waitFor();
  await press(row, of.locator('.detail h2', { hasText: question }));
}

const undo = () => of.locator('.detail').getByRole('button', { name: 'Undo', exact: true });

async function choose(label: RegExp): Promise<void> {
  await press(of.locator('.detail').getByRole('button', { name: label }), undo());
}

/** The title of an unanswered decision. */
async function findQuestion(): Promise<string | undefined> {
  const { needs_you } = await page.world.order('status_get', {});
  return (needs_you as { title: string }[])[0]?.title;
}

/** Reads the evidence, comments on a line, and sends the work back with the comment. */
async function sendBack(): Promise<void> {
  await of.locator('.detail .file button').first().click();
  await of
    .getByRole('button', { name: /^Comment on added line/ })
    .first()
    .click();
  await of.getByRole('textbox', { name: /^Comment on added line/ }).fill('name the unit here');
  await of.getByRole('button', { name: 'Add to my answer' }).click();
  await choose(/Send back/);
}

/** The entries of a type. */
async function recorded(type: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { entries } = await page.world.order('entries_read', { types: [type], limit: 100 });
  return (entries as { data: Record<string, unknown> }[]).map(({ data }) => data);
}

/** The page verifies the chain itself, and a downloaded proof verifies elsewhere. */
async function downloadProof(id: string): Promise<void> {
  await of.locator('.foot', { hasText: /verified to #/ }).waitFor({ timeout: 60_000 });
  await page.go(of, `/tasks/${id}`);
  const downloading = of.waitForEvent('download');
  await of.getByRole('button', { name: 'Download the proof' }).click();
  const proof = join(page.world.folder, 'proof.json');
  await (await downloading).saveAs(proof);
  expect(page.world.baton(['verify', proof])).toMatchObject({ code: 0 });
}

it('answers a question, withdraws the answer, and answers again', { timeout: 120_000 }, async () => {
  const id = await page.startWorkflow('Read durations back <b>now</b>', 'supervised');
  await open('requested');
  expect(await of.locator('.detail').textContent()).toContain('Read durations back <b>now</b>');
  await choose(/^1/);
  await press(undo(), of.locator('.detail').getByRole('button', { name: /^1/ }));
  await until('the answer is withdrawn', async () => (await recorded('DecisionAnswerWithdrawn')).length === 1);
  expect(await recorded('DecisionResolved')).toEqual([]);
  await choose(/^1/);
  await until('it takes effect', async () => (await recorded('DecisionResolved')).length === 1);
  await downloadProof(id);
  await page.world.order('task_cancel', { task_id: id, reason: 'seen' });
});

inLongLane(() =>
  it(
    'takes a workflow from a request to a merge, with every answer given on the page',
    { timeout: 240_000 },
    async () => {
      const id = await page.startWorkflow('Read durations back <b>now</b>', 'semi');
      await page.go(of, '/work');
      // The title appears live, as text.
      await of.locator('.view', { hasText: 'Read durations back <b>now</b>' }).waitFor();
      const asked: string[] = [];
      await until(
        'it is merged',
        async () => {
          const question = await findQuestion();
          if (question === undefined)
            return (await page.world.order('task_view', { task_id: id }))['status'] === 'done';
          await open(question);
          const isFirstReview = question.includes('review') && !asked.includes(question);
          asked.push(question);
          if (isFirstReview) await sendBack();
          else await choose(/^1/);
          return false;
        },
        200_000,
      );
      expect(asked.filter((question) => question.includes('review')).length).toBeGreaterThan(1);
      const sentBack = (await recorded('DecisionAnswered')).find(({ action }) => action === 'send_back');
      expect(String(sentBack?.['message'])).toContain('name the unit here');
      await page.untilTask(id, ({ status }) => status === 'done');
      await page.go(of, `/work/task:${id}`);
      await of.locator('.detail', { hasText: 'merged' }).waitFor();
      await downloadProof(id);
      expect(visit.red).toEqual([]);
    },
  ),
);

it('sends a message to an agent, stops it, cancels work and reinstates it', { timeout: 120_000 }, async () => {
  const { id: agent } = await page.world.order('run_start', { name: 'listener', kind: 'agent' });
  await page.go(of, `/session/${String(agent)}`);
  await of.getByRole('textbox', { name: /^Message to/ }).fill('go on, please');
  await of.getByRole('button', { name: 'Send', exact: true }).click();
  await until('the message is delivered', async () =>
    (await recorded('MessageDelivered')).some(({ ok }) => ok === true),
  );
  const id = await page.startWorkflow('Not wanted', 'supervised');
  await page.go(of, `/work/task:${id}`);
  await of.locator('[data-step=cancel]').click();
  await of.locator('[data-form=cancel] textarea').fill('too late');
  await press(of.locator('[data-form=cancel] button').first(), of.locator('[data-step=reinstate]'));
  await page.untilTask(id, ({ status }) => status === 'cancelled');
  await of.locator('[data-step=reinstate]').click();
  await of.locator('[data-form=reinstate] textarea').fill('wanted after all');
  await press(of.locator('[data-form=reinstate] button').first(), of.locator('[data-step=cancel]'));
  await page.untilTask(id, ({ status }) => status !== 'cancelled');
  expect(visit.red).toEqual([]);
});

inLongLane(() => {
  it('resolves one decision however quickly the same place is clicked', { timeout: 120_000 }, async () => {
    for (let n = 0; n < 2; n += 1) await page.world.order('run_start', { name: 'asker', kind: 'agent' });
    await open('asker');
    const cancel = of.locator('.detail').getByRole('button', { name: /^1/ });
    const { x = 0, y = 0 } = (await cancel.boundingBox()) ?? {};
    await of.waitForTimeout(500);
    for (let click = 0; click < 6; click += 1) await of.mouse.click(x + 10, y + 10, { delay: 10 });
    await until('one is resolved', async () => {
      const all = await recorded('DecisionAnswered');
      return all.length > 0;
    });
    const { answered } = await page.world.order('status_get', {});
    expect(answered).toHaveLength(1);
  });
});
