import { describe, expect, it } from 'vitest';
import { CallMatcher } from './call-matcher.ts';
import { JudgeCalls, refuseMessages } from './judge-calls.ts';

const SEPARATED = { stream: true, shell: true, unseparated: 'ask' } as const;
const APPROVE = { tool: 'handoff_send', input: { handoff: '<handoff>approved</handoff>' } };
const REJECT = { tool: 'handoff_send', input: { handoff: '<handoff>rejected</handoff>' } };

function judge(more: Partial<typeof SEPARATED | { shell: false }> = {}): JudgeCalls {
  return new JudgeCalls({ ...SEPARATED, ...more }, new CallMatcher(20));
}

function call({ tool, input }: typeof APPROVE, id = 1): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: input } };
}

async function check(calls: JudgeCalls, body: object): Promise<string> {
  return (await calls.check(Buffer.from(JSON.stringify(body)))).kind;
}

describe('a verdict at the supervisor of a separated judge', () => {
  it('is matched with the call in the output of the client, once', async () => {
    const calls = judge();
    calls.onPrinted(APPROVE);
    expect(await check(calls, call(APPROVE))).toBe('matched');
    expect(await check(calls, call(APPROVE)), 'a replay').toBe('unmatched');
  });

  it('is matched as often as the client printed it', async () => {
    const calls = judge();
    calls.onPrinted(APPROVE);
    calls.onPrinted(APPROVE);
    const kinds = [
      await check(calls, call(APPROVE)),
      await check(calls, call(APPROVE)),
      await check(calls, call(APPROVE)),
    ];
    expect(kinds).toEqual(['matched', 'matched', 'unmatched']);
  });

  it('waits for the line of the output, which may come after the request', async () => {
    const calls = new JudgeCalls(SEPARATED, new CallMatcher(5000));
    const checked = check(calls, call(APPROVE));
    calls.onPrinted(APPROVE);
    expect(await checked).toBe('matched');
  });

  it('does not match while the client makes a different call', async () => {
    const calls = judge();
    calls.onPrinted(REJECT);
    expect(await check(calls, call(APPROVE))).toBe('unmatched');
    expect(await check(calls, call(REJECT)), 'the own call still counts').toBe('matched');
  });

  it('matches whatever the order of the fields is, and no other value', async () => {
    const calls = judge();
    const exit = { tool: 'exit_signal', input: { version: '1.0.0', notes: 'x', more: { b: 1, a: [2, 1] } } };
    calls.onPrinted(exit);
    const other = { tool: 'exit_signal', input: { more: { a: [1, 2], b: 1 }, notes: 'x', version: '1.0.0' } };
    expect(await check(calls, call(other as never))).toBe('unmatched');
    const same = { tool: 'exit_signal', input: { more: { a: [2, 1], b: 1 }, notes: 'x', version: '1.0.0' } };
    expect(await check(calls, call(same as never))).toBe('matched');
  });

  it('is refused in a batch if one call of it does not match', async () => {
    const calls = judge();
    calls.onPrinted(APPROVE);
    const batch = [call(APPROVE, 1), call(REJECT, 2)];
    const checked = await calls.check(Buffer.from(JSON.stringify(batch)));
    expect(checked).toMatchObject({ kind: 'unmatched', tool: 'handoff_send' });
    expect(checked.kind === 'unmatched' && refuseMessages(checked.messages, true, 'no')).toMatchObject([
      { id: 1, error: { message: 'no' } },
      { id: 2, error: { message: 'no' } },
    ]);
  });

  it('leaves reads, progress and what is no JSON to the daemon', async () => {
    const calls = judge();
    expect(await check(calls, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).toBe('plain');
    expect(await check(calls, call({ tool: 'task_brief', input: {} as never }))).toBe('plain');
    expect(await check(calls, call({ tool: 'task_update', input: { status: 'in_progress' } as never }))).toBe('plain');
    expect(await check(calls, call({ tool: 'agent_signal', input: { kind: 'continue' } as never }))).toBe('plain');
    expect((await calls.check(Buffer.from('{'))).kind).toBe('plain');
  });
});

it('leaves a verdict to the daemon, without vouching for it, if the shell of the judge is not separate', async () => {
  const calls = judge({ shell: false });
  expect(await check(calls, call(APPROVE))).toBe('plain');
  calls.onPrinted(APPROVE);
  expect(await check(calls, call(APPROVE))).toBe('matched');
});

it('checks nothing in a session that does not judge', async () => {
  expect(await check(new JudgeCalls(undefined), call(APPROVE))).toBe('plain');
});
