import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ListedProjectView } from '../../src/api/operations/project.ts';
import type { StatusView } from '../../src/api/run-views.ts';
import { openBareProject } from '../../src/daemon/project/project.cases.ts';
import { inLongLane } from '../lanes.ts';
import { newRepository } from '../package/new-repository.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { isPostgres } from '../stores/chosen.ts';
import { openBrowser } from '../web/open-browser.ts';

const TASKS = 5000;
const QUESTIONS = 12;

/** A supervised workflow asks its first question before any agent runs. */
const RUNBOOK = `
[ci]
required = []

[agents.issue-manager]
run = "true"
role = "issue-manager"

[pipelines.release]
steps = [{ name = "publish", run = "exit 3" }]

[notify]
desktop = false
terminal = false
`;

const BUSY = '12 decisions, 1 failed run need you, nothing runs.';
const GONE = '1 missing repository needs you, nothing runs.';
const STOPPED = '1 stopped project needs you, nothing runs.';

/** Three projects of one daemon: a busy one with a long backlog, one without its repository, and a stopped one. */
describe.skipIf(isPostgres)('with three projects that need a person', () => {
  let world: World;
  let gone: string;
  let stopped: string;

  beforeAll(async () => {
    world = new World();
    gone = join(world.folder, 'gone');
    stopped = join(world.folder, 'stopped');
    world.commit(world.repository, { 'baton.toml': RUNBOOK }, 'the runbook');
    for (const folder of [gone, stopped]) newRepository(folder, 'empty');
    mkdirSync(join(gone, 'src'));
    await world.startDaemon();
    await run(['task', 'add', 'A', '--title', 'x', '--project', stopped]);
    const { id } = await listed(stopped);
    await world.endDaemon();
    await recordUnknown(id, stopped);
    await world.startDaemon();

    const tasks = Array.from({ length: TASKS }, (_, i) => `- [ ] K${i}: do it\n`);
    writeFileSync(join(world.folder, 'tasks.md'), tasks.join(''));
    await run(['task', 'import', join(world.folder, 'tasks.md')]);
    const asked = Array.from({ length: QUESTIONS }, (_, i) => `K${i}`).join(',');
    await run(['run', 'issue', '--task', asked, '--mode', 'supervised', '--detach']);
    await world.type(['run', 'release']);
    // The daemon knows the folder only by another path, so that it asks git about this one.
    await run(['task', 'add', 'A', '--title', 'x', '--project', join(gone, 'src')]);
    renameSync(gone, join(world.folder, 'elsewhere'));
  }, 120_000);
  afterAll(async () => world[Symbol.asyncDispose]());

  async function run(args: readonly string[]): Promise<string> {
    const { code, out, err } = await world.type(args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return out;
  }

  async function recordUnknown(id: string, path: string): Promise<void> {
    const project = await openBareProject({ id, path, stateDir: world.stateDir, onMistake: () => {} });
    await project.ledger.append([{ actor: 'system:later', type: 'MoonLanded', data: { crater: 7 } }]);
    await project.close();
  }

  async function listed(path: string): Promise<ListedProjectView> {
    const { projects }: { projects: readonly ListedProjectView[] } = JSON.parse(
      await run(['project', 'list', '--json']),
    );
    const found = projects.find((project) => project.path === path);
    if (found === undefined) throw new Error(`${path} is not listed`);
    return found;
  }

  it.each([
    ['the busy one', () => world.repository, BUSY, QUESTIONS + 1],
    ['the one without a repository', () => gone, GONE, 1],
    ['the stopped one', () => stopped, STOPPED, 1],
  ])('the status, the list and the API agree about %s', async (_, at, summary, needs) => {
    const path = at();
    await until('it is listed', async () => (await listed(path)).summary === summary);
    expect(await listed(path)).toMatchObject({ needs, all_clear: false });
    expect(await run(['project', 'list'])).toMatch(new RegExp(`^${basename(path)} +${summary} +${path}$`, 'm'));
    expect((await run(['status', '--project', path])).split('\n')[0]).toBe(summary);
    const status: StatusView = JSON.parse(await run(['status', '--json', '--project', path]));
    const { result } = (await world.client().forward('status_get', {}, { projectPath: path })) as {
      result: StatusView;
    };
    for (const view of [status, result]) {
      expect(view).toMatchObject({ needs, summary, all_clear: false });
      expect(view.needs_you.length + view.attention.reduce((sum, { count }) => sum + count, 0)).toBe(needs);
    }
  });

  it('questions come first, then the failed run; the backlog is counted as tasks', async () => {
    const shown = await run(['status']);
    const needed = shown.split('\n').filter((line) => line.startsWith('  ! ') && !line.includes('issue-manager'));
    expect(needed).toHaveLength(QUESTIONS + 1);
    expect(needed.slice(0, QUESTIONS)).toEqual(Array(QUESTIONS).fill(expect.stringContaining('Task needs attention')));
    expect(needed.at(-1)).toContain('Pipeline failed: release');
    expect(shown).toMatch(new RegExp(`\ntasks ${TASKS} todo\n$`));
  });

  inLongLane(() => {
    let browser: Browser;
    let page: Page;
    beforeAll(async () => {
      browser = await openBrowser();
      page = await browser.newPage();
      await page.goto(String((await world.order('page_open', {}))['url']));
      await page.waitForURL(({ hash }) => /^#\/[^/]+\//.test(hash));
    });
    afterAll(async () => browser.close());

    it.each([
      ['the busy one', () => world.repository, BUSY, QUESTIONS + 1],
      ['the one without a repository', () => gone, GONE, 1],
      ['the stopped one', () => stopped, STOPPED, 1],
    ])('the page agrees about %s', async (_, at, summary, needs) => {
      const { id } = await listed(at());
      await page.goto(`${new URL(page.url()).origin}/#/${id}/inbox`);
      await page.locator('.verdict', { hasText: summary }).waitFor();
      await page.locator('h2.group', { hasText: `Needs you ${needs}` }).waitFor();
      const signs = await page
        .locator('.row.item[data-decision], .row.item[data-attention]')
        .evaluateAll((rows) => rows.map((row) => (row.hasAttribute('data-decision') ? 'question' : 'fault')));
      expect(signs).toEqual([...Array(needs - 1).fill('question'), 'fault']);
    });
  });
});
