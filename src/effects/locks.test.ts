import { describe, expect, it } from 'vitest';
import { KeyedMutex } from './locks.ts';

describe('locks', () => {
  it('admit one at a time per name, in order, and do not delay others', async () => {
    const locks = new KeyedMutex();
    const said: string[] = [];
    const gate = Promise.withResolvers<void>();
    const work = (name: string, until: Promise<void>) => async () => {
      said.push(`${name} enters`);
      await until;
      said.push(`${name} leaves`);
    };
    const first = locks.run('a', work('first', gate.promise));
    const second = locks.run('a', work('second', Promise.resolve()));
    await locks.run('b', work('other', Promise.resolve()));
    expect(said).toEqual(['first enters', 'other enters', 'other leaves']);
    gate.resolve();
    await Promise.all([first, second]);
    expect(said.slice(3)).toEqual(['first leaves', 'second enters', 'second leaves']);
  });

  it('are released after a failure', async () => {
    const locks = new KeyedMutex();
    await expect(locks.run('a', async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await locks.run('a', async () => Promise.resolve(1))).toBe(1);
  });
});
