import { expect, it } from 'vitest';
import { runCrowd } from '../faults/agents-crowd.ts';

// `npm run faults` runs this with 200 agents.
it('20 agents at once: every hook is answered, and none is lost', async () => {
  const { faults, atOnce, hooks } = await runCrowd(20);
  expect(faults).toEqual([]);
  expect({ atOnce, hooks }).toEqual({ atOnce: 20, hooks: 80 });
}, 300_000);
