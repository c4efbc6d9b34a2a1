import { createClient } from '../../src/api/client/connect.ts';
import { record } from './messages.ts';
import { perform } from './deeds.ts';

/**
 * A worker that claims the next task, writes back and completes it, until the daemon answers that none is left. Every
 * other time it first tries to claim a certain task, which is mostly refused: the task is claimed, done, or waits for
 * others.
 */
const client = createClient({ as: 'worker', autostart: false, projectPath: process.env['WORLD_REPOSITORY'] ?? '' });
const OBSTACLES: ReadonlySet<string> = new Set(['already-claimed', 'waits', 'not-workable']);
const stopping = new AbortController();

perform({
  ready: async () => (await client.reach()) === undefined,
  drain: async (name: string, commit: string, count: number) => {
    const done: string[] = [];
    for (let turn = 0; ; turn += 1) {
      const task = turn % 2 === 0 ? { wait_ms: 60_000 } : { task_id: `T${Math.floor(Math.random() * count)}` };
      const claim = await client.call('task_claim', { as: name, ...task }, { signal: stopping.signal });
      if (stopping.signal.aborted) return done;
      if (!claim.ok && OBSTACLES.has(claim.error.code)) continue;
      if (!claim.ok) throw new Error(claim.error.message);
      const { task_id, token } = claim.result as { task_id: string; token: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion
      const completed = await client.call('task_complete', record(task_id, commit), { token });
      if (!completed.ok) throw new Error(`${task_id}: ${completed.error.message}`);
      done.push(task_id);
    }
  },
  stop: async () => stopping.abort(),
});
