import { expect, it } from 'vitest';
import { keptAnswer } from '../api/outbox.ts';
import type { Io } from './command.ts';
import { reportError } from './operation-command.ts';

function run(options: ReadonlyMap<string, string>) {
  const printed = { out: '', err: '' };
  const io = {
    env: {},
    out: (text: string) => void (printed.out += text),
    err: (text: string) => void (printed.err += text),
  } as unknown as Io; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const answer = keptAnswer('agent_signal');
  const code = answer.ok ? -1 : reportError(answer.error, { args: [], options }, io);
  return { code, ...printed };
}

it('a call that is kept in the outbox is a success with a note', () => {
  const { code, out, err } = run(new Map());
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err).toMatch(/^Note: the daemon is away: agent_signal was kept and will be delivered\n/);
  expect(err).toContain('baton up');
});

it('with --json the note is one object, which is no error', () => {
  const { code, out, err } = run(new Map([['json', '']]));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toMatchObject({ kept: true, message: expect.stringContaining('kept') });
});
