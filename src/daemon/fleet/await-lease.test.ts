import { describe, expect, it } from 'vitest';
import type { Caller } from '../../state/caller.ts';
import { given } from '../../state/given.cases.ts';
import { claim, create, operator, session, worker } from '../../state/say.cases.ts';
import { awaitLease } from './await-lease.ts';

const { state } = given([
  [create('A'), operator],
  [claim('A', 's1'), worker],
]);

/** A claim on A with a closed fence. If `isReachable`, the database acknowledges the claim on request. */
function scene(isReachable: boolean) {
  const renewed: string[] = [];
  let isClosed = true;
  const project = {
    stateDir: '/nowhere',
    fleet: { renewNow: async () => undefined, sharedLease: () => (isReachable ? 60_000 : 0) },
    fences: {
      isClosed: (taskId: string) => isClosed && taskId === 'A',
      closeOverdue: (_: unknown, leaseOf: (taskId: string, epoch: number) => number | undefined) => {
        isClosed = (leaseOf('A', 1) ?? 0) === 0;
      },
    },
    leases: { renew: (taskId: string, epoch: number) => renewed.push(`${taskId} ${epoch}`) > 0 },
    read: <A>(select: (given: typeof state) => A): A => select(state),
  };
  return { renewed, judges: (caller: Caller) => awaitLease(caller, project, 0) };
}

describe('a message under a claim that the database has not acknowledged', () => {
  it('is judged once the database has acknowledged the claim, which the message renews', async () => {
    const { judges, renewed } = scene(true);
    expect(await judges(session('s1'))).toBe(true);
    expect(renewed).toEqual(['A 1']);
  });

  it('waits if the database does not: the commits of the session are not in the repository yet', async () => {
    expect(await scene(false).judges(session('s1'))).toBe(false);
  });

  it('is judged at once if the claim is not its own: it is refused as stale', () => {
    const { judges, renewed } = scene(false);
    expect(judges(session('another'))).toBeUndefined();
    expect(judges({ kind: 'supervisor', agentId: 'unknown' })).toBeUndefined();
    expect(judges(operator)).toBeUndefined();
    expect(renewed).toEqual([]);
  });
});
