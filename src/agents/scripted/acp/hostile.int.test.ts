import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RpcError } from '../../../acp/connection.ts';
import { readText } from '../../../acp/messages.ts';
import { startAgent } from './test-client.cases.ts';

const EXAMPLES = join(import.meta.dirname, '../../../../examples/agents/acp');

describe('a hostile ACP agent', () => {
  it('plays every step of the example', async () => {
    const paths: unknown[] = [];
    const agent = await startAgent(readFileSync(join(EXAMPLES, 'hostile.yaml'), 'utf8'), {
      capabilities: { fs: { readTextFile: true, writeTextFile: true } },
      onRequest: (_method, { path }) => {
        paths.push(path);
        throw new RpcError(-32_002, 'not found');
      },
    });
    const sessionId = await agent.open();
    expect(await agent.prompt(sessionId, 'Begin')).toEqual({ stopReason: 'end_turn' });
    await agent.seen(({ content }) => readText(content).includes('Still working'));
    const { cwd } = agent;
    // The connection refuses parameters that are a list, and a second request with the id of a running one.
    expect(paths.filter((path) => path !== 'b.txt')).toEqual([
      'a.txt',
      `${cwd}/../../../../../../../../etc/passwd`,
      `${cwd}/../outside.txt`,
      '/etc/passwd',
      `${cwd}/\u001B[31mred.txt`,
      undefined,
    ]);
    expect(agent.said()).toContain('\u001B]0;owned\u0007\u001B[2J\u001B[31mred');
    expect(agent.said()).toHaveLength(1002);
    expect(agent.invalid.slice(0, 5)).toEqual([
      'this is not JSON',
      '[1, 2',
      '[]',
      '{"jsonrpc":"1.0","method":7}',
      '{"jsonrpc":"2.0","id":900,"result":"nobody asked"}',
    ]);
    // A second response to the same prompt, after the turn seemed to be over.
    await expect.poll(() => agent.invalid.at(-1)).toContain('"stopReason":"end_turn"');
    expect(agent.invalid.join('').length).toBeGreaterThan(1_040_000);

    const hanging = agent.prompt(sessionId, 'Again').catch(() => 'gone');
    await agent.seen(({ content }) => readText(content).includes('Try to end me'));
    agent.notify('session/cancel', { sessionId });
    // The response proves that the notification has arrived.
    await agent.request('authenticate');
    agent.child.kill('SIGTERM');
    await agent.request('authenticate');
    agent.child.stdin?.end();
    agent.child.kill('SIGKILL');
    await once(agent.child, 'exit');
    expect(await hanging).toBe('gone');
  });

  it('ends with its client if it only hangs', async () => {
    const agent = await startAgent('- say: Hello\n- hang');
    void agent.prompt(await agent.open(), 'Begin').catch(() => {});
    await agent.seen(() => true);
    expect(await agent.leave()).toBe(0);
  });
});
