import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { until } from '../processes/until.ts';
import { type DaemonProcessOptions, World } from '../processes/world.ts';

const SAMPLE = join(import.meta.dirname, '../../examples/sample');

/** The sample repository with a daemon as a separate process, and the page in a browser, opened as by `baton web`. */
export class PageWorld implements AsyncDisposable {
  readonly world: World;
  readonly #contexts: BrowserContext[] = [];

  private constructor(world: World) {
    this.world = world;
  }

  static async open(options: DaemonProcessOptions = {}): Promise<PageWorld> {
    const world = new World();
    try {
      cpSync(SAMPLE, world.repository, { recursive: true });
      const runbook = join(world.repository, 'baton.toml');
      writeFileSync(runbook, `${readFileSync(runbook, 'utf8')}${AGENTS}`);
      world.commit(
        world.repository,
        { 'agents/talk.sh': TALK, 'agents/listen.yaml': '- run: sleep 600\n- stop\n' },
        'the sample',
      );
      await world.startDaemon(options);
      return new PageWorld(world);
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The address with a one-time code, as `baton web` opens it. */
  async address(): Promise<string> {
    return String((await this.world.order('page_open', {}))['url']);
  }

  /** A new browser context for the page; records its console errors. */
  async visit(browser: Browser, { width = 1440, height = 900, theme = 'light' }: VisitOptions = {}): Promise<Visit> {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const red: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && red.push(message.text())));
    page.on('pageerror', (error) => void red.push(error.message));
    await page.goto(await this.address());
    await page.locator('.foot .state.good').waitFor();
    // The page goes to its project by itself; an address opened before that would be lost.
    await page.waitForURL(({ hash }) => /^#\/[^/]+\//.test(hash));
    return { page, context, red };
  }

  /** Goes to an address of this project, such as `/tasks/T001`. */
  async go(page: Page, path: string): Promise<void> {
    const project = new URL(page.url()).hash.split('/')[1] ?? '';
    await page.goto(`${new URL(page.url()).origin}/#/${project}${path}`);
  }

  /** Starts the built-in workflow. In mode `supervised` it asks a person at every stage. */
  async startWorkflow(title: string, mode: 'autonomous' | 'semi' | 'supervised' = 'autonomous'): Promise<string> {
    const { id } = await this.world.order('run_start', { name: 'issue', args: [title, '--mode', mode] });
    return String(id);
  }

  async untilTask(id: string, holds: (view: Readonly<Record<string, unknown>>) => boolean): Promise<void> {
    await until(`task ${id}`, async () => holds(await this.world.order('task_view', { task_id: id })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#contexts.map(async (context) => context.close()));
    await this.world[Symbol.asyncDispose]();
  }
}

export interface VisitOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The errors in the page's console. */
  readonly red: readonly string[];
}

/**
 * An agent with coloured output, one that accepts messages, one that asks a person as soon as it stops, and a pipeline.
 */
const AGENTS = `
[agents.talker]
run = "sh agents/talk.sh"
on_stop = "escalate"

[agents.listener]
run = "scripted agents/listen.yaml"
on_stop = "signal"

[agents.asker]
run = "echo I am done"
on_stop = "escalate"

[pipelines.release]
steps = [
  { name = "build", run = "echo built; test -f .built || { touch .built; exit 1; }", on_fail = { retries = 1 } },
  { name = "test", run = "echo all green", on_fail = "repair" },
  { name = "notes", run = { agent = "asker" } },
  { name = "publish", run = "echo published", on_done = "tidy" },
  { name = "repair", run = "echo repaired", on_done = "build" },
  { name = "tidy", run = "rm -f .built" },
]
`;

const TALK = `n=0
while :; do
  n=$((n + 1))
  printf '\\033[32mline %d\\033[0m is \\033[1mbold\\033[0m\\n' $n
  sleep 1
done
`;
