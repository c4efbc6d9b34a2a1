import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NotificationChannel } from '../notify/channel.ts';
import { removeNotificationMarks, notify } from './notify.ts';
import { performEffect } from './perform.ts';
import type { EffectContext } from './context.ts';

let stateDir: string;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'baton-notify-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const request = {
  notification_id: 'n1',
  kind: 'attention',
  title: 'Agent needs attention: a',
  message: 'm',
  decision_id: null,
} as const;

it('notifies every channel, and records which of them failed', async () => {
  const heard: string[] = [];
  const channels: NotificationChannel[] = [
    { name: 'terminal', send: async ({ title }) => (heard.push(title), { ok: true }) },
    { name: 'webhook', send: async () => ({ ok: false, reason: 'status 500' }) },
  ];
  const told = await notify(request, { stateDir, channels });
  expect(told).toEqual({ sent: ['terminal'], failed: [{ channel: 'webhook', reason: 'status 500' }] });
  expect(heard).toEqual([request.title]);
});

it('sends no notification twice, and reports the same outcome again', async () => {
  let count = 0;
  const channels: NotificationChannel[] = [{ name: 'terminal', send: async () => ((count += 1), { ok: true }) }];
  const first = await notify(request, { stateDir, channels });
  expect(await notify(request, { stateDir, channels })).toEqual(first);
  expect(count).toBe(1);
});

it('does not send again what a daemon was sending when it ended', async () => {
  const never: NotificationChannel = { name: 'webhook', send: async () => new Promise(() => undefined) };
  void notify(request, { stateDir, channels: [never] });
  const again: NotificationChannel = { name: 'webhook', send: async () => ({ ok: true }) };
  const told = await notify(request, { stateDir, channels: [again] });
  expect(told).toEqual({
    sent: [],
    failed: [{ channel: 'webhook', reason: 'the daemon ended while it sent the notification' }],
  });
});

it('treats an exception of a channel as a failure', async () => {
  const broken: NotificationChannel = {
    name: 'desktop',
    send: async () => {
      throw new Error('no screen');
    },
  };
  expect(await notify(request, { stateDir, channels: [broken] })).toMatchObject({ failed: [{ channel: 'desktop' }] });
});

it('keeps no file once the outcome is recorded', async () => {
  await notify(request, { stateDir, channels: [{ name: 'terminal', send: async () => ({ ok: true }) }] });
  removeNotificationMarks(stateDir, request.notification_id);
  expect(readdirSync(join(stateDir, 'notifications'))).toEqual([]);
});

it('sends nothing about a decision that is no longer open', async () => {
  const result = { kind: 'withdrawn', reason: 'the task was cancelled' };
  const part = {
    stateDir,
    readState: async (look: (state: unknown) => unknown) =>
      look({ agents: new Map(), decisions: new Map([['d1', { result }]]) }),
    channels: () => {
      throw new Error('a channel is used');
    },
  };
  const world = part as unknown as EffectContext; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const data = { ...request, decision_id: 'd1' };
  const effect = { key: 'notification:n1', seq: 1, type: 'NotificationRequested', data } as const;
  const [recorded] = await performEffect(effect, world, new AbortController().signal);
  expect(recorded?.command).toMatchObject({
    notification_id: 'n1',
    sent: [],
    called_off: 'its decision was withdrawn',
  });
});
