import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { Answer } from '../api/answer.ts';
import { reportCopying } from './ask.ts';

async function watch(answers: readonly (string | null)[], isTerminal = true): Promise<readonly string[]> {
  const said: string[] = [];
  const left = [...answers];
  const call = async (): Promise<Answer<{ importing: string | null }>> => {
    const importing = left.shift() ?? null;
    if (importing === 'away') return { ok: false, error: { code: 'daemon-away', message: '', hint: '' } };
    return { ok: true, result: { importing } };
  };
  using _watching = reportCopying({ isTerminal, err: (text) => void said.push(text) }, call, 0);
  await vi.waitUntil(async () => left.length === 0 || (!isTerminal && (await setImmediate(true))));
  await setImmediate();
  return said;
}

it('shows each step of the first copy once', async () => {
  const counted = 'Counting objects: 100% (90/90)';
  const said = await watch([
    null,
    counted,
    counted,
    'Writing objects:  41%',
    'away',
    'Writing objects:  49%',
    'Writing objects:  50%',
  ]);
  expect(said).toEqual([
    'Copying the repository: Counting objects: 100% (90/90)\n',
    'Copying the repository: Writing objects:  41%\n',
    'Copying the repository: Writing objects:  50%\n',
  ]);
});

it('prints nothing without a copy or without a terminal', async () => {
  expect(await watch([null, null])).toEqual([]);
  expect(await watch(['Writing objects:  41%'], false)).toEqual([]);
});
