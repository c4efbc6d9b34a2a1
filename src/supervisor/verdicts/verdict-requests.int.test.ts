import { describe, expect, it } from 'vitest';
import { Scene, type Supervised, SUPERVISOR_TOKEN } from '../scene.cases.ts';

const JUDGE = { stream: true, shell: true, unseparated: 'ask' } as const;
const APPROVE = { name: 'handoff_send', arguments: { handoff: 'approved' } };
const REJECT = { name: 'handoff_send', arguments: { handoff: 'rejected' } };
const REFUSED = {
  error: { code: -32_001, message: expect.stringContaining("not in the output of this session's client") },
};

/** A client that prints each line of its standard input. */
async function startClient(scene: Scene): Promise<Supervised> {
  await scene.daemon.start();
  const run = await scene.start({ argv: ['/bin/cat'], output: 'stream-json', judge: JUDGE });
  await run.running();
  return run;
}

async function print(run: Supervised, { name, arguments: input }: typeof APPROVE): Promise<void> {
  const block = { type: 'tool_use', id: 'toolu_1', name: `mcp__baton__${name}`, input };
  const line = JSON.stringify({ type: 'assistant', message: { role: 'assistant', content: [block] } });
  await run.control({ kind: 'send', message_id: line, text: line });
}

function call(params: typeof APPROVE, id = 1): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

describe('requests with the token of a separated judge', { timeout: 60_000 }, () => {
  it.each([
    ['in a session', { 'mcp-session-id': 'one' }],
    ['without a session', { 'mcp-protocol-version': '2026-07-28', accept: 'application/json, text/event-stream' }],
  ])('are vouched for if its client printed them, once, and else not forwarded: %s', async (_, headers) => {
    await using scene = new Scene();
    const run = await startClient(scene);
    await print(run, APPROVE);
    const answer = await run.post('/mcp', call(APPROVE), headers);
    expect(await answer.text()).toContain('data: last');
    expect(scene.daemon.forwarded).toEqual([SUPERVISOR_TOKEN]);
    const forged = { ...headers, 'baton-matched': SUPERVISOR_TOKEN };
    const answers = await Promise.all([
      run.post('/mcp', call(APPROVE), headers),
      run.post('/mcp', call(REJECT), forged),
      run.post('/mcp', [call(REJECT), call(APPROVE, 2)], headers),
    ]);
    const [replay, other, batch] = await Promise.all(answers.map(async (each): Promise<unknown> => each.json()));
    expect(replay).toMatchObject(REFUSED);
    expect(other).toMatchObject(REFUSED);
    expect(batch).toMatchObject([REFUSED, { id: 2, ...REFUSED }]);
    expect(scene.daemon.forwarded).toHaveLength(1);
  });

  it('are not vouched for by a header of the sender', async () => {
    await using scene = new Scene();
    const run = await startClient(scene);
    const read = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    await (await run.post('/mcp', read, { 'baton-matched': SUPERVISOR_TOKEN })).text();
    expect(scene.daemon.forwarded).toEqual([null]);
  });

  it('state no verdict as an operation', async () => {
    await using scene = new Scene();
    const run = await startClient(scene);
    await print(run, APPROVE);
    const answer = await run.post('/v1/handoff_send', APPROVE.arguments, { 'baton-matched': SUPERVISOR_TOKEN });
    expect(await answer.json()).toMatchObject({ ok: false, error: { code: 'unmatched-call' } });
    expect(scene.daemon.of('handoff_send')).toEqual([]);
  });
});

it('a process beside the client cannot write into its output: the pipes of Node are sockets', async () => {
  await using scene = new Scene();
  await scene.daemon.start();
  const forge = 'for fd in 0 1 2; do (echo FORGED >/proc/$$/fd/$fd) 2>/dev/null && echo "opened $fd"; done; echo tried';
  const run = await scene.start({ argv: ['/bin/sh', '-c', forge] });
  expect((await run.exit()).output).toBe('tried');
});
