import { expect, it } from 'vitest';
import type { Caller } from '../state/caller.ts';
import { operator, session, worker } from '../state/say.cases.ts';
import { SERVER_LIMITS } from './limits.ts';
import { SessionLimits } from './session-limits.ts';

const NOTE = { name: 'task_update', kind: 'write', bytes: 100 } as const;
const READ = { name: 'task_list', kind: 'read', bytes: 0 } as const;
const EXIT = { name: 'exit_signal', kind: 'write', bytes: 100 } as const;

function limits() {
  const clock = { nowMs: 0 };
  const made = new SessionLimits(() => clock.nowMs);
  const send = (caller: Caller, call: typeof NOTE | typeof READ | typeof EXIT, times = 1): number => {
    let taken = 0;
    for (let i = 0; i < times; i++) if (made.take(caller, call) === undefined) taken += 1;
    return taken;
  };
  return { clock, made, send };
}

it('takes a burst of a session, and then as many as its budget gets back', () => {
  const { clock, send } = limits();
  expect(send(session(), NOTE, 1000)).toBe(SERVER_LIMITS.sessionWrites);
  clock.nowMs += 3000;
  expect(send(session(), NOTE, 1000)).toBe(3 * SERVER_LIMITS.sessionWritesPerSecond);
});

it.each([
  ['notes', NOTE, EXIT],
  ['reads', READ, EXIT],
  ['signals', EXIT, NOTE],
])('refuses a flood of %s without an effect on another session, or on the end of this one', (_, flood, other) => {
  const { send } = limits();
  send(session(), flood, 10_000);
  expect([send(session(), flood), send(session(), other)]).toEqual([0, 1]);
  expect(send(session('s2', 'B'), flood)).toBe(1);
});

it('counts the bytes of messages, and says when to send again', () => {
  const { clock, made } = limits();
  const large = { ...NOTE, bytes: SERVER_LIMITS.sessionBytes - 10 };
  expect(made.take(session(), large)).toBeUndefined();
  const refused = made.take(session(), { ...NOTE, bytes: 10 + SERVER_LIMITS.sessionBytesPerSecond * 5 });
  expect(refused?.error).toMatchObject({
    code: 'rate-limited',
    message: 'this session sends too many bytes',
    hint: 'Nothing was recorded. Send this again in 5 s.',
  });
  clock.nowMs += 5001;
  expect(made.take(session(), { ...NOTE, bytes: SERVER_LIMITS.sessionBytesPerSecond * 5 })).toBeUndefined();
});

it('takes a message that is larger than the budget when the budget is full', () => {
  const { clock, made } = limits();
  const huge = { ...NOTE, bytes: SERVER_LIMITS.sessionBytes * 2 };
  expect(made.take(session(), huge)).toBeUndefined();
  clock.nowMs += 1000;
  expect(made.take(session(), huge)).toBeDefined();
});

it('limits neither people nor workers nor supervisors, and a session also without a claim', () => {
  const { send } = limits();
  for (const caller of [operator, worker, { kind: 'supervisor', agentId: 'a' } as const])
    expect(send(caller, NOTE, 5000)).toBe(5000);
  expect(send({ kind: 'agent', agentId: 'a' }, NOTE, 5000)).toBe(SERVER_LIMITS.sessionWrites);
});

it('forgets sessions that sent nothing for a while', () => {
  const { clock, made, send } = limits();
  for (let i = 0; i < 5000; i++) {
    clock.nowMs += 1000;
    send(session(`s${i}`), READ);
  }
  expect(made.size).toBeLessThan(2000);
});
