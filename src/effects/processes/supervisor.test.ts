import { expect, it } from 'vitest';
import { isTransient } from '../due.ts';
import { refuseWithoutRoom } from './supervisor.ts';

const untaken = { kind: 'untaken' } as const;

function caught(
  lastOutput: string | undefined,
  found: Parameters<typeof refuseWithoutRoom>[0]['found'] = untaken,
): unknown {
  try {
    refuseWithoutRoom({ found, lastOutput });
    return undefined;
  } catch (error) {
    return error;
  }
}

it.each(['ENOSPC: no space left on device, write', 'spawn EAGAIN', 'Error: EFBIG: file too large'])(
  'a start that was given up with %j is retried',
  (lastOutput) => {
    expect(isTransient(caught(lastOutput), 0)).toBe(true);
  },
);

it('a start that the supervisor of an earlier daemon gave up is retried', () => {
  expect(isTransient(caught(undefined), 0)).toBe(true);
});

it('a supervisor that failed for another reason, or has run a process, counts as an outcome', () => {
  expect(caught('it ended with SIGKILL')).toBeUndefined();
  expect(caught('ENOSPC', { kind: 'lost', running: undefined })).toBeUndefined();
});
