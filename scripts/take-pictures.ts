import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from '../test/web/open-browser.ts';
import { PageWorld } from '../test/web/page-world.ts';
import { seed } from '../test/web/seed.ts';
import { recordScenes } from './terminal/record-scenes.ts';

/**
 * `npm run pictures`: takes pictures of the page with an active project, light and dark, wide and narrow, and
 * recordings of the command line.
 *
 * `npm run pictures FOLDER [ADDRESS…]`: only the page. An address is the part after the project, such as `/tasks/T001`;
 * `TASK`, `AGENT`, `DECISION` and `PIPELINE` are replaced by an existing id.
 *
 * `npm run pictures terminal [NAME…]`: only the recordings of the command line, or the named ones.
 */
const FOLDER = 'docs/pictures';
const ALL: Readonly<Record<string, string>> = {
  inbox: '/inbox/DECISION',
  work: '/work',
  run: '/work/task:TASK',
  changes: '/work/task:TASK/changes',
  session: '/session/AGENT',
  tasks: '/tasks/T007',
  ledger: '/ledger/12',
  fleet: '/fleet',
};

const [first, ...rest] = process.argv.slice(2);
if (first === 'terminal') await recordScenes(FOLDER, rest);
else {
  await takePage(first ?? FOLDER, rest);
  if (first === undefined) await recordScenes(FOLDER, []);
}

async function takePage(folder: string, addresses: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const shown =
    addresses.length === 0
      ? Object.entries(ALL)
      : addresses.map((address) => [address.slice(1).replaceAll(/[^A-Za-z0-9]+/g, '-'), address] as const);
  await using page = await PageWorld.open();
  const names = await seed(page, { reach: 'review' });
  const browser = await openBrowser();
  try {
    for (const theme of ['light', 'dark'] as const)
      for (const width of [1440, 320]) {
        const visit = await page.visit(browser, { width, height: width === 320 ? 640 : 900, theme });
        for (const [name, address] of shown) {
          const path = address.replace(/TASK|AGENT|DECISION|PIPELINE/g, (word) => names[word] ?? word);
          await page.go(visit.page, path);
          await visit.page.waitForTimeout(1500);
          const file = `${name}-${theme}-${width}.png`;
          await visit.page.screenshot({ path: join(folder, file) });
          const red = visit.red.length === 0 ? '' : ` RED: ${visit.red.join(' | ').slice(0, 500)}`;
          process.stdout.write(`${file}${red}\n`);
        }
        await visit.context.close();
      }
  } finally {
    await browser.close();
  }
}
