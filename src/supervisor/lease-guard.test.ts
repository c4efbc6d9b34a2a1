import { describe, expect, it } from 'vitest';
import type { Answer } from '../api/answer.ts';
import { LeaseGuard } from './lease-guard.ts';

/** A guard on a simulated clock, and its actions in order. */
function scene(answer: () => Answer, hasSignalled = false) {
  const did: string[] = [];
  const clock = { ms: 1000 };
  const guard = new LeaseGuard(
    {
      renew: async (isFrozen) => {
        did.push(isFrozen ? 'renew frozen' : 'renew');
        return answer();
      },
      freeze: async () => {
        did.push('freeze');
        return true;
      },
      thaw: async () => void did.push('thaw'),
      onChange: (isFrozen, forMs) => void did.push(isFrozen ? 'frozen' : `after ${forMs}`),
      end: async () => void did.push('end'),
      hasSignalled: () => hasSignalled,
    },
    100,
    () => clock.ms,
  );
  /** Advances the clock to this time, checks the lease, and returns the actions. */
  const at = async (ms: number): Promise<string[]> => {
    clock.ms = ms;
    guard.look();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return did.splice(0);
  };
  return { guard, at };
}

const granted = (lease_ms: number): Answer => ({ ok: true, result: { lease_ms } });
const refused = (code: string): Answer => ({ ok: false, error: { code, message: '', hint: '' } });

describe('the guard of a lease', () => {
  it('freezes at the end of the lease, asks often, and thaws after a successful renewal', async () => {
    let next = granted(500);
    const { at, guard } = scene(() => next);
    expect(await at(1000)).toEqual(['renew']);
    next = granted(380);
    expect(await at(1050)).toEqual([]);
    expect(await at(1120)).toEqual(['renew']);
    next = refused('daemon-away');
    expect(await at(1300)).toEqual(['renew']);
    expect(await at(1499)).toEqual(['renew']);
    expect(await at(1500)).toEqual(['frozen', 'freeze']);
    expect(guard.isFrozen).toBe(true);
    expect(await at(1600)).toEqual(['freeze', 'renew frozen']);
    next = granted(0);
    expect(await at(1700)).toEqual(['freeze', 'renew frozen']);
    next = granted(500);
    expect(await at(1900)).toEqual(['freeze', 'renew frozen', 'thaw', 'after 400']);
    expect(guard.isFrozen).toBe(false);
    guard.stop();
  });

  it('freezes before it asks after the machine slept past the deadline', async () => {
    const { at, guard } = scene(() => granted(500));
    await at(1000);
    expect(await at(1_000_000)).toEqual(['frozen', 'freeze', 'renew frozen', 'thaw', 'after 0']);
    expect(guard.isFrozen).toBe(false);
    guard.stop();
  });

  it.each(['stale-claim', 'claim-ended'])('ends a frozen agent whose claim has ended: %s', async (code) => {
    const { at, guard } = scene(() => refused(code));
    expect(await at(1000)).toEqual(['renew']);
    expect(await at(1200)).toEqual(['frozen', 'freeze', 'renew frozen', 'end']);
    guard.stop();
  });

  it('lets an agent finish whose own signal has ended its claim', async () => {
    const { at, guard } = scene(() => refused('claim-ended'), true);
    expect(await at(1200)).toEqual(['frozen', 'freeze', 'renew frozen', 'thaw', 'after 0']);
    expect(await at(10_000)).toEqual(['renew']);
    guard.stop();
  });

  it('ends an agent with a kept signal if another session has its task', async () => {
    const { at, guard } = scene(() => refused('stale-claim'), true);
    expect(await at(1200)).toEqual(['frozen', 'freeze', 'renew frozen', 'end']);
    guard.stop();
  });

  it('waits for the first acknowledgement of a new claim', async () => {
    const { at, guard } = scene(() => granted(0));
    expect(await at(1000)).toEqual(['renew']);
    expect(await at(1199)).toEqual(['renew']);
    expect(await at(1200)).toEqual(['frozen', 'freeze']);
    guard.stop();
  });

  it('never freezes under a store that is not shared', async () => {
    const { at, guard } = scene(() => ({ ok: true, result: {} }));
    expect(await at(1000)).toEqual(['renew']);
    expect(await at(9_000_000)).toEqual(['renew']);
    guard.stop();
  });
});
