import { expect, it } from 'vitest';
import { HealthLog } from './store.ts';

const FULL = { message: 'no space left to write ledger.db', hint: 'Make room on that disk' };

function full(bytes: number): HealthLog {
  const log = new HealthLog();
  log.failed(FULL, 0, bytes);
  return log;
}

it('stays unwritable if only a smaller write fits than the failed one', () => {
  const log = full(20_000);
  log.succeeded(() => 4096);
  expect(log.health).toMatchObject({ writable: false, reason: FULL.message });
  log.failed(FULL, 0, 100);
  log.succeeded(() => 19_999);
  expect(log.health.writable, 'the largest one counts').toBe(false);
  log.succeeded(() => 20_000);
  expect(log.health).toEqual({ writable: true });
});

it('forgets the size once the store was writable, and requires no room after another failure', () => {
  const log = full(20_000);
  log.succeeded();
  log.failed({ message: 'ledger.db is locked', hint: 'Find the process' });
  log.succeeded(() => 0);
  expect(log.health).toEqual({ writable: true });
});
