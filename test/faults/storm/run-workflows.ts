import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../../src/api/client/client.ts';
import type { World } from '../../processes/world.ts';

/** The end of each workflow by id: done, unfinished, or why it failed. */
export type Ends = Map<string, string>;

/**
 * Keeps as many workflows running as agents may run: alternately a pipeline with two agents, and a task that a worker
 * claims for an agent. A lost signal shows in the first as a failed step, in the second as a repeated claim.
 */
export async function runAll(world: World, workflows: number, atOnce: number, deadline: number): Promise<Ends> {
  const client = world.client();
  const ends: Ends = new Map();
  let next = 1;
  const runOne = async (): Promise<void> => {
    while (next <= workflows && performance.now() < deadline) {
      const n = next++;
      await (n % 2 === 0 ? runTask : runPipeline)(client, n, ends, deadline);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, async () => runOne()));
  client.close();
  return ends;
}

async function runPipeline(client: Client, n: number, ends: Ends, deadline: number): Promise<void> {
  const input = { name: 'flow', args: [] };
  const { id } = (await untilAnswered(client, 'run_start', input, deadline, `workflow-${n}`)) ?? {};
  if (typeof id !== 'string') return;
  ends.set(id, 'unfinished');
  for (;;) {
    const shown = await untilAnswered(client, 'pipeline_show', { id, wait_ms: 3000 }, deadline);
    if (shown === undefined) return;
    const { status, reason } = shown;
    if (status === 'running') continue;
    ends.set(id, status === 'done' ? 'done' : `${String(status)}: ${String(reason)}`);
    return;
  }
}

async function runTask(client: Client, n: number, ends: Ends, deadline: number): Promise<void> {
  const task_id = `task-${n}`;
  if ((await untilAnswered(client, 'task_create', { task_id, title: task_id }, deadline, task_id)) === undefined)
    return;
  ends.set(task_id, 'unfinished');
  for (;;) {
    const shown = await untilAnswered(client, 'task_get', { task_id }, deadline);
    if (shown === undefined) return;
    if (shown['phase'] !== 'IMPLEMENTATION') {
      ends.set(
        task_id,
        shown['phase'] === 'CI_PENDING' ? 'done' : `in ${String(shown['phase'])}: ${String(shown['blocked_because'])}`,
      );
      return;
    }
    await pause(500);
  }
}

/** Repeats a call with one key until it is answered; undefined if the time is over. */
async function untilAnswered(
  client: Client,
  operation: string,
  input: unknown,
  deadline: number,
  key: string = crypto.randomUUID(),
): Promise<Record<string, unknown> | undefined> {
  while (performance.now() < deadline) {
    const answer = await client.forward(operation, input, { timeoutMs: 15_000, key });
    if (answer.ok) return { ...Object(answer.result) };
    // A call that the client kept is delivered by itself; repeating its key returns the answer.
    await pause(300);
  }
  return undefined;
}
