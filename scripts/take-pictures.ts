import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from '../test/web/open-browser.ts';
import { PageWorld } from '../test/web/page-world.ts';
import { seed } from '../test/web/seed.ts';

/**
 * `npm run pictures [FOLDER] [ADDRESS…]`: pictures of the page with a lively project, light and dark, wide and narrow. An address is what
 * follows the project, as in `/tasks/T001`; `TASK`, `AGENT`, `DECISION` and `PIPELINE` stand for one that exists.
 */
const [folder = 'docs/pictures', ...addresses] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const ALL = [
  '/inbox',
  '/inbox/DECISION',
  '/work',
  '/work/task:TASK',
  '/session/AGENT',
  '/tasks',
  '/tasks/TASK',
  '/ledger',
  '/ledger/12',
  '/fleet',
];

await using page = await PageWorld.open();
const names = await seed(page);
const browser = await openBrowser();
try {
  for (const theme of ['light', 'dark'] as const)
    for (const width of [1440, 320]) {
      const visit = await page.visit(browser, { width, height: width === 320 ? 640 : 900, theme });
      for (const address of addresses.length === 0 ? ALL : addresses) {
        const path = address.replace(/TASK|AGENT|DECISION|PIPELINE/g, (name) => names[name] ?? name);
        await page.go(visit.page, path);
        await visit.page.waitForTimeout(1500);
        const file = `${address.slice(1).replaceAll(/[^A-Za-z0-9]+/g, '-')}-${theme}-${width}.png`;
        await visit.page.screenshot({ path: join(folder, file) });
        const red = visit.red.length === 0 ? '' : ` RED: ${visit.red.join(' | ').slice(0, 500)}`;
        process.stdout.write(`${file}${red}\n`);
      }
      await visit.context.close();
    }
} finally {
  await browser.close();
}
