import { expect, it } from 'vitest';
import { findLedgerFault, readLedger } from '../processes/ledger.ts';
import { isLongRun } from '../processes/long-run.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

const WORKERS = 8;
const TASKS = isLongRun ? 2000 : 300;

it(`${WORKERS} workers drain ${TASKS} tasks with dependencies, each done once and after its dependencies`, async () => {
  await using world = await World.open();
  const tasks = makeTasks(TASKS);
  const operator = world.client();
  // Tasks name their dependencies, so those are created first; tasks of one row are independent.
  for (let row = 0; row < tasks.length; row += ROW) {
    const answers = await Promise.all(
      tasks
        .slice(row, row + ROW)
        .map(async ({ id, after }) => operator.call('task_create', { task_id: id, title: id, after })),
    );
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
  }
  const commit = world.git(world.repository, 'rev-parse', 'HEAD');
  const workers = Array.from({ length: WORKERS }, () => world.peer('drain-worker'));
  await Promise.all(workers.map(async (worker) => worker.ask('ready')));
  const draining = workers.map(async (worker, i) => worker.ask<string[]>('drain', `w${i}`, commit, TASKS));
  const failed = Promise.race(draining.map(async (each) => each.then(() => new Promise<never>(() => undefined))));
  await Promise.race([
    failed,
    until(
      'all is done',
      async () => {
        const { tasks: open } = await world.order('task_next_actions', { limit: 1 });
        const last = await world.order('task_get', { task_id: 'END' });
        return Array.isArray(open) && open.length === 0 && last['status'] === 'done';
      },
      300_000,
    ),
  ]);
  await Promise.all(workers.map(async (worker) => worker.ask('stop')));
  const done = await Promise.all(draining);

  // Each task was done once, by one worker, and every worker had some.
  expect(done.flat().toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
  expect(done.every((own) => own.length > 0)).toBe(true);

  // The ledger agrees, also about the order: no task was claimed before its dependencies were done.
  const claimedAt = new Map<unknown, number[]>();
  const doneAt = new Map<unknown, number[]>();
  for (const { type, data, seq } of await readLedger(world)) {
    const isDone = type === 'PhaseMoved' && data['to'] === 'COMPLETED';
    const where = isDone ? doneAt : type === 'TaskClaimed' ? claimedAt : undefined;
    where?.set(data['task_id'], [...(where.get(data['task_id']) ?? []), seq]);
  }
  const wrong = tasks.filter(({ id, after }) => {
    const [claimed = 0, ...again] = claimedAt.get(id) ?? [];
    const [end = 0, ...twice] = doneAt.get(id) ?? [];
    const isEarly = after.some((other) => (doneAt.get(other)?.[0] ?? Number.POSITIVE_INFINITY) > claimed);
    return isEarly || claimed === 0 || end < claimed || again.length > 0 || twice.length > 0;
  });
  expect(wrong).toEqual([]);
  expect(await findLedgerFault(world)).toBeUndefined();
}, 400_000);

const ROW = 20;

/**
 * Rows of tasks, each depending on up to three of the two previous rows; the last task depends on the whole last row.
 */
function makeTasks(count: number): { readonly id: string; readonly after: readonly string[] }[] {
  const random = seeded(4);
  const tasks = Array.from({ length: count }, (_, i) => {
    const first = Math.floor(i / ROW) * ROW;
    const from = Math.max(0, first - 2 * ROW);
    const wanted = first === 0 ? 0 : Math.floor(random() * 4);
    const after = Array.from({ length: wanted }, () => `T${from + Math.floor(random() * (first - from))}`);
    return { id: `T${i}`, after: [...new Set(after)] };
  });
  return [...tasks, { id: 'END', after: tasks.slice(-ROW).map(({ id }) => id) }];
}

/** Mulberry32: a small generator with repeatable results. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
