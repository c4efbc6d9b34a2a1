import { createClient } from '../../src/api/connect.ts';
import { record } from './messages.ts';
import { perform } from './deeds.ts';

/** A worker that takes whatever is next, writes back and completes it, until it is told that there is no more. */
const client = createClient({ as: 'worker', autostart: false, projectPath: process.env['WORLD_REPOSITORY'] ?? '' });
const stopping = new AbortController();

perform({
  ready: async () => (await client.reach()) === undefined,
  drain: async (name: string, commit: string) => {
    const done: string[] = [];
    for (;;) {
      const claim = await client.call('task_claim', { as: name, wait_ms: 60_000 }, { signal: stopping.signal });
      if (stopping.signal.aborted) return done;
      if (!claim.ok) throw new Error(claim.error.message);
      const { task_id, token } = claim.result as { task_id: string; token: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion
      const completed = await client.call('task_complete', record(task_id, commit), { token });
      if (!completed.ok) throw new Error(`${task_id}: ${completed.error.message}`);
      done.push(task_id);
    }
  },
  stop: async () => stopping.abort(),
});
