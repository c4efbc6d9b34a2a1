import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fencePath, readLiveClaim } from '../../git/fence/fence.ts';
import type { State } from '../../state/state.ts';
import { closesAtMs, Fences } from './fences.ts';

it('closes the fence of a claim that cannot be renewed, and opens it when it is', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'baton-fences-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  const claim = { epoch: 3, sessionId: 's' };
  const state = { tasks: new Map([['t', { claim }]]) } as unknown as State; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const fences = new Fences({ stateDir, id: 'p', leaseTimes: { expiryMs: 100, renewalMs: 10, tickMs: 1 } });
  const live = () => readLiveClaim(fencePath(stateDir, 'p', 't'));
  fences.add('t', claim);
  fences.closeOverdue(state, () => 21);
  expect(live()).toEqual(claim);
  fences.closeOverdue(state, () => 20);
  expect(live()).toBeNull();
  // Other code writes fences too, for example when a second worktree is made.
  fences.add('t', claim);
  expect(live()).toBeNull();
  fences.closeOverdue(state, () => 100);
  expect(live()).toEqual(claim);
  fences.closeOverdue(state, () => 0);
  fences.closeOverdue(state, () => undefined);
  expect(live()).toEqual(claim);
});

it('closes it two renewals before the end of the lease, and never between two renewals in time', () => {
  expect(closesAtMs({ expiryMs: 900_000, renewalMs: 30_000 })).toBe(60_000);
  expect(closesAtMs({ expiryMs: 60_000, renewalMs: 30_000 })).toBe(15_000);
});
