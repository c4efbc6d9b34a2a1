import { describe, expect, it } from 'vitest';
import type { Answer } from '../api/answer.ts';
import { callAcceptingRules } from './approvals.ts';
import type { Io } from './command.ts';

const HASH = 'a'.repeat(64);
const LOOSENED: Answer = {
  ok: false,
  error: { code: 'rules-loosened', message: 'it loosens', hint: '', rules: { sha256: HASH, differences: [] } },
};

const io: Io = {
  env: {},
  cwd: '/',
  isTerminal: false,
  out: () => undefined,
  err: () => undefined,
  readInput: async () => new Uint8Array(),
};

async function call(accepted: string | undefined, answer: Answer = LOOSENED) {
  const sent: object[] = [];
  const typed = ['baton', 'run', 'issue', "Don't stop"];
  const answered = await callAcceptingRules(
    async (accept) => {
      sent.push(accept);
      return answer;
    },
    { accepted, typed, io },
  );
  return { answered, sent };
}

describe('a command whose runbook loosens the rules', () => {
  it('prints the complete command to type, and asks no question without a terminal', async () => {
    const { answered, sent } = await call(undefined);
    expect(sent).toEqual([{}]);
    expect(answered).toMatchObject({
      error: {
        hint: `If that is what you want: baton run issue 'Don'\\''t stop' --accept-rules ${HASH}`,
      },
    });
  });

  it('sends the hash that was typed', async () => {
    expect((await call(HASH, { ok: true, result: {} })).sent).toEqual([{ accept_rules: HASH }]);
  });

  it('returns every other answer unchanged', async () => {
    const other: Answer = { ok: false, error: { code: 'x', message: 'y', hint: 'z' } };
    expect((await call(undefined, other)).answered).toBe(other);
  });
});
