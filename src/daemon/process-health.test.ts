import { expect, it } from 'vitest';
import { guardProcess, type ProcessEvents } from './process-health.ts';

function guarded() {
  const listeners = new Map<string, (error: unknown) => void>();
  const exits: number[] = [];
  const messages: string[] = [];
  const fake: ProcessEvents = {
    on: (event, listener) => listeners.set(event, listener),
    exit: (code) => void exits.push(code),
  };
  guardProcess({ info: () => undefined, error: (message) => void messages.push(message) }, fake);
  return { listeners, exits, messages };
}

it.each(['uncaughtException', 'unhandledRejection'])('never ends without a reason in the log: %s', (event) => {
  const { listeners, exits, messages } = guarded();
  listeners.get(event)?.(new Error('a mistake'));
  expect(exits).toEqual([1]);
  expect(messages).toEqual(['the daemon ends because of an internal error']);
});

it.each(['EMFILE', 'ENFILE', 'ENOSPC', 'EROFS'])('survives %s, and logs it once', (code) => {
  const { listeners, exits, messages } = guarded();
  for (let i = 0; i < 3; i += 1)
    listeners.get('uncaughtException')?.(Object.assign(new Error(`${code}: accept`), { code }));
  expect(exits).toEqual([]);
  expect(messages).toHaveLength(1);
});
