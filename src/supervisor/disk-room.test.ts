import { expect, it } from 'vitest';
import { retryWhileFull } from './disk-room.ts';

const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });

it('repeats a write until there is room, and reports the wait once', async () => {
  let left = 2;
  const waits: unknown[] = [];
  const write = (): void => {
    if (left-- > 0) throw full;
  };
  expect(
    await retryWhileFull(
      write,
      () => true,
      (error) => waits.push(error),
    ),
  ).toBe(true);
  expect(waits).toEqual([full]);
});

it('gives up if the file is no longer needed', async () => {
  const write = (): never => {
    throw full;
  };
  expect(await retryWhileFull(write, () => false)).toBe(false);
});

it('rethrows other errors', async () => {
  const write = (): never => {
    throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
  };
  await expect(retryWhileFull(write, () => true)).rejects.toThrow('EACCES');
});
