import { expect, it } from 'vitest';
import type { Client } from '../../api/client/client.ts';
import { followStatus } from './follow-status.ts';

it('reports a daemon that was not reached before it asks again', async () => {
  const left = new AbortController();
  const reported: string[] = [];
  const { promise: never, reject } = Promise.withResolvers<never>();
  left.signal.addEventListener('abort', () => reject(new Error('left')));
  const client = { call: async () => (reported.push('asked'), never) } as unknown as Client; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const unreached = { code: 'no-answer', message: 'the daemon does not answer (pid 7)', hint: 'kill -CONT 7' };
  const followed = followStatus(client, unreached, left.signal, {
    onView: () => undefined,
    onAway: ({ message }) => void reported.push(message),
  });
  expect(reported).toEqual(['the daemon does not answer (pid 7)', 'asked']);
  left.abort();
  await expect(followed).rejects.toThrow('left');
});
