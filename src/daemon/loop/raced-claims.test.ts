import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { MemoryStore } from '../../ledger/memory-store.ts';
import type { Appended, Commit, Head, NewerEntries } from '../../ledger/store.ts';
import { raceClaims } from './raced-claims.cases.ts';

it('grants each task once although two daemons share the store', async () => {
  const store = new DistantStore();
  const { tasks, ...raced } = await raceClaims(async () => store, 100);
  expect(raced).toEqual({ granted: tasks, claimed: tasks, isVerified: true });
});

/** A store behind a few turns of the event loop, in which both daemons decide. */
class DistantStore extends MemoryStore {
  override async append(commit: Commit): Promise<Appended> {
    await turn();
    return super.append(commit);
  }

  override async newer(head: Head): Promise<NewerEntries | undefined> {
    await turn();
    return super.newer(head);
  }
}
