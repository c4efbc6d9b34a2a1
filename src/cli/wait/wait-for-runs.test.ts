import { describe, expect, it } from 'vitest';
import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { RunWait } from '../../api/operations/run-wait.ts';
import { waitForRuns } from './wait-for-runs.ts';

type Call = (input: { wait_ms?: number }, signal: AbortSignal) => Promise<Answer<RunWait>>;

function clientOf(answer: Call): Pick<Client, 'call'> {
  const call = async (_: string, input: { wait_ms?: number }, { signal }: { signal: AbortSignal }): Promise<unknown> =>
    answer(input, signal);
  return { call: call as unknown as Client['call'] }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

const answered = (settled: boolean): Answer<RunWait> => ({ ok: true, result: { settled, waits: [] } });
const never = new AbortController().signal;

describe('waiting without a limit', () => {
  it('asks again after the longest time for which the daemon waits', async () => {
    const asked: (number | undefined)[] = [];
    const client = clientOf(async ({ wait_ms }) => answered(asked.push(wait_ms) === 3));
    const answer = await waitForRuns(client, { ids: ['a'] }, { signal: never, timeoutMs: Infinity });
    expect(answer).toEqual(answered(true));
    expect(asked).toEqual([86_400_000, 86_400_000, 86_400_000]);
  });

  it('ends with an error', async () => {
    const error = { code: 'no-such-run', message: 'there is none', hint: '' };
    const client = clientOf(async () => ({ ok: false, error }));
    const answer = await waitForRuns(client, { ids: ['a'] }, { signal: never, timeoutMs: Infinity });
    expect(answer).toEqual({ ok: false, error });
  });
});

it('aborts a call that takes longer than the time limit, and reads the current state', async () => {
  const asked: (number | undefined)[] = [];
  const client = clientOf(async ({ wait_ms }, signal) => {
    asked.push(wait_ms);
    if (wait_ms === undefined) return answered(false);
    return new Promise((resolve) => {
      const error = { code: 'no-answer', message: 'given up', hint: '' };
      signal.addEventListener('abort', () => resolve({ ok: false, error }));
    });
  });
  const answer = await waitForRuns(client, { ids: ['a'] }, { signal: never, timeoutMs: 1, graceMs: 1 });
  expect(answer).toEqual(answered(false));
  expect(asked.at(-1)).toBe(undefined);
  expect(asked).toHaveLength(2);
});
