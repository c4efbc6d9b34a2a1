import { afterEach, beforeEach, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';

let scene: RunScene;

beforeEach(async () => {
  scene = new RunScene();
  scene.write('ci.required = []\n');
  await scene.start();
});
afterEach(async () => scene.end());

async function session(id: string): Promise<string> {
  await scene.ask('task_create', { task_id: id, title: id });
  return (await scene.ask<{ token: string }>('task_claim', { task_id: id, as: 'ada' })).token;
}

/** The median time, over the start of a flood and what follows, of a person's and another session's calls. */
async function measure(token: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 41; i++) {
    const began = performance.now();
    await scene.call('task_get', { task_id: 'A' });
    await scene.call('task_update', { task_id: 'B', status: 'in_progress', progress: i }, token);
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[20] ?? 0;
}

it.each<[string, (i: number) => readonly [string, object]]>([
  ['tasks', (i) => ['task_create', { task_id: `F${i}`, title: 'x', priority: 1_000_000 }]],
  ['notes of 100 KiB', () => ['task_update', { task_id: 'A', status: 'in_progress', notes: 'x'.repeat(100_000) }]],
  ['reads of everything', () => ['task_list', { limit: 1000 }]],
])(
  'a flood of %s leaves the answers of others within 3 × of idle',
  async (_, message) => {
    const [flooding, other] = [await session('A'), await session('B')];
    await measure(other);
    const idle = await measure(other);
    let isOver = false;
    let sent = 0;
    const flood = async (): Promise<void> => {
      while (!isOver) await scene.call(...message((sent += 1)), flooding);
    };
    const floods = Array.from({ length: 16 }, flood);
    const during = await measure(other);
    isOver = true;
    await Promise.all(floods);
    expect(sent).toBeGreaterThan(16);
    expect(during / Math.max(idle, 2)).toBeLessThan(3);
    // Of all those tasks, ten are there.
    const { total } = await scene.ask<{ total: number }>('task_list');
    expect(total).toBeLessThanOrEqual(12);
  },
  60_000,
);
