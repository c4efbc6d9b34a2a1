import { expect, it } from 'vitest';
import { Semaphore } from './locks.ts';

it('admits no more than its width at a time, and all in the end', async () => {
  const turnstile = new Semaphore(2);
  let inside = 0;
  let most = 0;
  const work = async (i: number): Promise<number> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    inside -= 1;
    if (i === 3) throw new Error('one that fails leaves too');
    return i;
  };
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map(async (i) => turnstile.run(async () => work(i))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(most).toBe(2);
});
