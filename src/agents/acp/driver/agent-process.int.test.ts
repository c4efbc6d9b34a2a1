import { afterEach, describe, expect, it } from 'vitest';
import { isGone } from '../../../acp/connection.ts';
import { AgentProcess } from './agent-process.ts';

const running: AgentProcess[] = [];
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.end();
});

function start(script: string, onRequest: () => Promise<object> = async () => ({})): AgentProcess {
  const agent = new AgentProcess(['/bin/sh', '-c', script], { onRequest, onNotification: () => {} });
  running.push(agent);
  return agent;
}

describe('the process of an agent', () => {
  it('is given up if it closes its output and keeps running', async () => {
    const agent = start('exec >&-; exec sleep 600');
    await expect(agent.rpc.request('session/prompt', {})).rejects.toSatisfy(isGone);
  });

  it('is not read any more if it sends requests without reading the answers', async () => {
    let answered = 0;
    const agent = start(`while :; do echo '{"jsonrpc":"2.0","id":1,"method":"x"}'; done`, async () => {
      answered += 1;
      return { text: 'x'.repeat(1024 * 1024) };
    });
    await expect.poll(() => agent.isBehind).toBe(true);
    const before = answered;
    for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
    expect(answered - before).toBeLessThan(3);
  });

  it('gets every answer when it reads', async () => {
    const requests = `for n in $(seq 60); do echo '{"jsonrpc":"2.0","id":'$n',"method":"x"}'; done`;
    const agent = start(`${requests}; ${requests}; test "$(head -n 120 | wc -l)" = 120`, async () => {
      await new Promise(setImmediate);
      return { text: 'x'.repeat(1024 * 1024) };
    });
    expect(await agent.exited).toEqual({ code: 0, signal: null });
  });
});
