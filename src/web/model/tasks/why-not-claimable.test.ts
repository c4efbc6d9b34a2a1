import { describe, expect, it } from 'vitest';
import { whyNotClaimable } from './why-not-claimable.ts';

const free = {
  claimable: false,
  claim: null,
  status: 'todo',
  phase: 'IMPLEMENTATION',
  blocked_because: null,
  waits_for: [],
  decision_ids: [],
} as const;
const claim = { epoch: 2, holder: 'ann', principal: 'ann', role: null, session_id: 's', since: '2026-01-01T00:00:00Z' };
const waits = (task_id: string) => ({ task_id, status: 'todo', blocked_because: null }) as const;

describe('why a task cannot be claimed', () => {
  it('is nothing if the daemon says that it can', () => {
    expect(whyNotClaimable({ ...free, claimable: true, waits_for: [waits('A')] })).toBeUndefined();
  });

  it.each([
    [{ claim }, 'ann has claimed it'],
    [{ status: 'done', phase: 'COMPLETED' }, 'it is done'],
    [{ status: 'cancelled', phase: 'BLOCKED', blocked_because: 'cancelled: no need' }, 'cancelled: no need'],
    [{ status: 'blocked', phase: 'BLOCKED', blocked_because: 'no key' }, 'it is blocked: no key'],
    [{ decision_ids: ['d1'], waits_for: [waits('A')] }, 'it waits for a person'],
    [{ waits_for: [waits('A'), waits('B')] }, 'it waits for A, B'],
    [{ phase: 'CI_PENDING' }, 'its checks have not passed yet'],
    [{ phase: 'READY_FOR_MERGE' }, 'it is being merged'],
    [{ phase: 'REVIEW' }, 'it is in REVIEW'],
  ] as const)('%j → %s', (more, why) => {
    expect(whyNotClaimable({ ...free, ...more })).toBe(why);
  });
});
