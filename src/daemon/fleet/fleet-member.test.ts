import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { BeatAnswer, HostBeat } from '../../protocol/fleet.ts';
import { StoreProblem } from '../../ledger/store.ts';
import { problem } from '../../protocol/shape/problem.ts';
import * as fleet from '../../state/fleet/say.cases.ts';
import { given, type Step } from '../../state/given.cases.ts';
import { claim, create, operator, system, worker } from '../../state/say.cases.ts';
import { createLeases } from '../../state/tasks/lease.ts';
import { isClaimed, TaskIndex } from '../../state/tasks/task-index.ts';
import { FleetMember } from './fleet-member.ts';
import { HostClock } from './host-clock.ts';

const TIMES = { expiryMs: 60_000, renewalMs: 15_000, tickMs: 1000 };
const ANSWER: BeatAnswer = {
  nowMs: 0,
  generation: 'g',
  caretaker: { host: 'alpha', term: 1 },
  hosts: [],
  expired: [{ taskId: 'A', epoch: 1 }],
  refused: [],
  joining: 0,
  forked: false,
};
const started: readonly Step[] = [
  [fleet.found('alpha'), system],
  [fleet.care('alpha', 1), system],
  [create('A'), operator],
  [claim('A'), worker],
];

/** The host alpha. Its submitted commands are never recorded. */
function scene(steps: readonly Step[], nowMs = 0, answer: BeatAnswer | (() => never) = ANSWER) {
  const { state } = given(steps);
  const beats: HostBeat[] = [];
  const submitted: string[] = [];
  const log = { info: () => undefined, error: () => undefined };
  const member = new FleetMember({
    project: 'demo',
    host: 'alpha',
    key: 'key of alpha',
    tables: {
      beat: async (beat) => {
        beats.push(beat);
        return typeof answer === 'function' ? answer() : answer;
      },
      requestJoin: async () => undefined,
      joinRequests: async () => [],
      dropJoinRequest: async () => undefined,
      forgetHost: async () => undefined,
    },
    url: 'postgres://db/baton',
    ledger: { head: { size: 1, hash: new Uint8Array(32) }, replicaProblem: undefined },
    commandLoop: {
      waitingForWork: 0,
      submitCommand: async ({ kind }, _caller, options) => {
        submitted.push(options?.overtakesKept === true ? `${kind} before kept messages` : kind);
        return new Promise(() => undefined);
      },
    },
    state,
    claimed: new TaskIndex(state, isClaimed),
    leases: createLeases(TIMES),
    leaseTimes: TIMES,
    clock: new HostClock({ wallMs: () => nowMs, bootMs: () => nowMs }),
    monotonicMs: () => nowMs,
    bootMs: () => nowMs,
    log,
    onRoleChanged: () => undefined,
  });
  return { member, beats, submitted };
}

it('continues its beats while the end of a claim waits for a push', async () => {
  const { member, beats, submitted } = scene(started);
  void member.beat();
  await turn();
  void member.beat();
  await turn();
  expect(beats).toHaveLength(2);
  // The kept messages of the holder wait for this entry.
  expect(submitted).toEqual(['expire-claim before kept messages']);
});

it('sends no beats after it was removed: its row would keep its name from others', async () => {
  const beta: Step = [fleet.admit('beta'), operator];
  const { member, beats } = scene([...started, beta, [fleet.remove('alpha'), operator]]);
  await member.beat();
  expect(beats).toEqual([]);
  expect(member.here.isCaretaker).toBe(false);
});

it('counts the lease of a claim from when it was decided, even if the entry is read much later', () => {
  const { member } = scene(started, 50_000);
  member.noteClaim('A', 1, new Date(0).toISOString());
  expect(member.sharedLease('A', 1)).toBe(10_000);
});

it('keeps a claim from just before a restart, even without a lease row', async () => {
  const refused = [{ taskId: 'A', epoch: 1 }];
  const { member } = scene(started, 0, { ...ANSWER, caretaker: null, expired: [], refused });
  await member.start();
  await member.close();
  expect(member.sharedLease('A', 1)).toBe(60_000);
});

it('distinguishes a refused report from an unavailable database', async () => {
  const fails = (code: string) => () => {
    throw new StoreProblem(problem(code, 'another machine has the name', 'Choose another.'));
  };
  const { member: refused } = scene(started, 0, fails('fleet/name-taken'));
  await refused.beat();
  expect(refused.measures()).toMatchObject({
    awaySince: null,
    problems: [{ message: 'another machine has the name' }],
  });
  const { member: away } = scene(started, 0, fails('ledger/unavailable'));
  await away.beat();
  expect(away.measures()).toMatchObject({ awaySince: expect.any(String), problems: [] });
});
