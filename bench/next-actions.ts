import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Client } from '../src/api/client/client.ts';
import { startDaemon } from '../src/api/client/start-daemon.ts';
import { stateFiles } from '../src/api/state-folder.ts';
import { type Project } from '../src/daemon/project/project.ts';
import { decide } from '../src/state/decide.ts';
import type { Benchmark, Measure } from './measure.ts';
import { atMost, median } from './measure.ts';
import { openBareProject } from '../src/daemon/project/project.cases.ts';

const SIZES = [100, 10_000, 100_000] as const;
const WARM_UP = 100;
const ASKS = 400;
/** With a hundred tasks ten can be claimed, which must last for both kinds of queries. */
const CHANGE_EVERY = 125;
const LIMIT_MS = 1;

/**
 * Measures queries for ready tasks, among few tasks and among very many. A task is claimed at intervals, so that the
 * order changes. Queries go through the command loop, as handlers call it, and through the daemon as a whole HTTP
 * request.
 */
export const nextActions: Benchmark = {
  name: 'next-actions',
  async run() {
    const inKeeper: number[] = [];
    const overHttp: number[] = [];
    for (const size of SIZES) {
      const place = await prepare();
      try {
        const project = await open(place);
        await createTasks(project, size);
        inKeeper.push(await askKeeper(project));
        await project.close();
        overHttp.push(await askDaemon(place));
      } finally {
        rmSync(place.folder, { recursive: true });
      }
    }
    return [...compare('through the keeper', inKeeper), ...compare('through the daemon', overHttp)];
  },
};

function compare(way: string, medians: readonly number[]): Measure[] {
  const name = `task_next_actions ${way}`;
  const under = SIZES.map((size, i) => {
    const value = medians[i] ?? Number.NaN;
    return atMost(1, { name: `${name}, ${size} tasks`, value, unit: 'ms', against: 'the goal of', limit: LIMIT_MS });
  });
  const [most, few] = [medians.at(-1) ?? Number.NaN, medians[0] ?? Number.NaN];
  const flat = { name: `${name}, ${SIZES.at(-1)} tasks`, unit: 'ms', against: `${SIZES[0]} tasks` };
  return [...under, atMost(2, { ...flat, value: most, limit: few })];
}

interface Place {
  readonly folder: string;
  readonly stateDir: string;
  readonly repository: string;
  readonly projectId: string;
}

/** A state folder in which a daemon has opened an empty repository, so that it finds the later entries there. */
async function prepare(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  const [stateDir, repository] = [join(folder, 'state'), join(folder, 'repository')];
  mkdirSync(repository);
  execFileSync('git', ['init', '--quiet'], { cwd: repository });
  await withDaemon({ stateDir, repository }, async (client) => call(client, 'task_list', {}));
  const [file = ''] = globSync(join(stateFiles(stateDir).projects, '*.db'));
  return { folder, stateDir, repository, projectId: basename(file, '.db') };
}

async function askKeeper(project: Project): Promise<number> {
  return medianMs(
    async () => {
      await project.commandLoop.read(({ state, ready }) =>
        ready.first(state, 10).map(({ id, phase }) => ({ id, phase })),
      );
    },
    async (n) => claimNext(project, n),
  );
}

async function askDaemon(place: Place): Promise<number> {
  return withDaemon(place, async (client) =>
    medianMs(
      async () => call(client, 'task_next_actions', { limit: 10 }),
      async () => call(client, 'task_claim', { as: 'bench' }),
    ),
  );
}

/** The median time of a call, without the changes between calls. */
async function medianMs(ask: () => Promise<void>, change: (n: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < WARM_UP + ASKS; n++) {
    if (n % CHANGE_EVERY === 0) await change(n);
    const before = performance.now();
    await ask();
    times.push(performance.now() - before);
  }
  return median(times.slice(WARM_UP));
}

async function withDaemon<T>(
  { stateDir, repository }: Pick<Place, 'stateDir' | 'repository'>,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const { env } = process;
  const start = await startDaemon({ stateDir, env, deadlineMs: 60_000 });
  if (start.kind !== 'listens') throw new Error(start.kind === 'failed' ? start.error.message : start.kind);
  const token = { ofFolder: 'operator' } as const;
  const client = new Client({ stateDir, env, token, projectPath: repository, autostart: false, reachMs: 5000 });
  try {
    return await use(client);
  } finally {
    client.close();
    await client.stop();
  }
}

async function call(client: Client, operation: string, input: object): Promise<void> {
  const answer = await client.forward(operation, input);
  if (!answer.ok) throw new Error(answer.error.message);
}

const OPERATOR = { kind: 'operator', name: 'bench' } as const;

/** Creates chains of ten, so that one task in ten can be claimed; many chains at once, so that they share commits. */
async function createTasks({ commandLoop: keeper }: Project, size: number): Promise<void> {
  const create = async (n: number): Promise<void> => {
    const command = { id: `T${n}`, title: `Task ${n}`, priority: n % 7, after: n % 10 === 0 ? [] : [`T${n - 1}`] };
    const settled = await keeper.submitCommand({ kind: 'create-task', command }, OPERATOR);
    if (!settled.ok) throw new Error(`T${n} was not created`);
  };
  let chains = 0;
  const work = async (): Promise<void> => {
    for (let first = 10 * chains++; first < size; first = 10 * chains++) {
      for (let n = first; n < first + 10; n++) await create(n);
    }
  };
  await Promise.all(Array.from({ length: 400 }, work));
}

async function claimNext({ commandLoop: keeper }: Project, n: number): Promise<void> {
  const settled = await keeper.submit({
    actor: 'session:bench',
    decide: ({ state, ready, rules, here }) => {
      const command = { id: ready.first(state, 1)[0]?.id ?? '', sessionId: `s${n}`, holder: 'bench' };
      return decide(state, { kind: 'claim-task', command }, OPERATOR, rules, here);
    },
  });
  if (!settled.ok) throw new Error('nothing was claimed');
}

async function open({ stateDir, repository: path, projectId: id }: Place): Promise<Project> {
  return openBareProject({ id, path, stateDir });
}
