import { until } from '../processes/until.ts';
import type { PageWorld } from './page-world.ts';

/**
 * Creates an active project: a merged workflow, one that waits for a person, agents that run and ask, tasks with
 * dependencies. `reach`: the question to the person; quick: without the merged workflow.
 */
export async function seed(
  page: PageWorld,
  { reach, isQuick = false }: { readonly reach?: string; readonly isQuick?: boolean } = {},
): Promise<Readonly<Record<string, string>>> {
  const { world } = page;
  for (let n = 1; n <= 40; n += 1) {
    const id = `T${String(n).padStart(3, '0')}`;
    const after =
      n % 5 === 0 ? [] : [`T${String(Math.max(1, n - 1)).padStart(3, '0')}`].filter((before) => before !== id);
    await world.order('task_create', {
      task_id: id,
      title: TITLES[n % TITLES.length],
      ...(after.length === 0 ? {} : { after }),
    });
  }
  await world.order('task_update', { task_id: 'T010', status: 'blocked', notes: 'the staging database is full' });
  const done = isQuick ? undefined : await page.startWorkflow('Read durations back');
  if (done !== undefined) await page.untilTask(done, ({ status }) => status === 'done');
  const waiting = await page.startWorkflow('Print durations in words', 'supervised');
  const { id: agent } = await world.order('run_start', { name: 'talker', kind: 'agent' });
  await world.order('run_start', { name: 'asker', kind: 'agent' });
  const { id: pipeline } = await world.order('run_start', { name: 'release' });
  const decision = await until('a person is asked three times', async () => {
    const { needs_you } = await world.order('status_get', {});
    const open = needs_you as { id: string; task_id: string | null; title: string }[];
    const asked = open.find(({ task_id }) => task_id === waiting);
    if (asked !== undefined && reach !== undefined && !asked.title.includes(reach)) {
      await world.order('decision_resolve', { id: asked.id, option: 1 });
      return undefined;
    }
    return open.length >= 3 ? asked?.id : undefined;
  });
  return { TASK: done ?? waiting, AGENT: String(agent), DECISION: decision, PIPELINE: String(pipeline) };
}

const TITLES = [
  'Parse ISO 8601 periods',
  'Reject negative durations',
  'Add a changelog entry',
  'Measure the parser',
  'Document the rounding rules',
  'Support weeks',
  'Name the unit in errors',
];
