import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { say } from './connect.ts';
import { openStdio, recordOf, SERVER } from './open-stdio.ts';
import { startRealDaemon, type RealDaemon } from './real-daemon.ts';

let daemon: RealDaemon;

beforeAll(async () => {
  daemon = await startRealDaemon();
});
afterAll(async () => daemon[Symbol.asyncDispose]());

describe('over stdio', () => {
  it('an agent takes a task, works on it and writes back', async () => {
    await daemon.asOperator('task_create', { task_id: 'A1', title: 'One' });
    const client = await open();
    expect((await say(client, 'task_next_actions')).result).toMatchObject({ tasks: [{ id: 'A1' }] });
    expect((await say(client, 'task_claim', { task_id: 'A1', as: 'agent' })).result).toMatchObject({ epoch: 1 });
    expect((await say(client, 'task_heartbeat', { task_id: 'A1' })).result).toMatchObject({ epoch: 1 });
    const early = await say(client, 'task_update', { task_id: 'A1', status: 'done' });
    expect(early.text).toBe('Writeback required: thought_record must be recorded before task completion.');
    expect(await say(client, 'thought_record', record('A1'))).toMatchObject({ isError: false });
    expect(await say(client, 'task_update', { task_id: 'A1', status: 'done' })).toMatchObject({ isError: false });
    await client.close();
    expect(await daemon.asOperator('task_get', { task_id: 'A1' })).toMatchObject({ result: { status: 'done' } });
  });

  it('two processes race for a task, and one of them gets it', async () => {
    await daemon.asOperator('task_create', { task_id: 'B1', title: 'Two' });
    const clients = await Promise.all([open(), open()]);
    const claims = await Promise.all(clients.map(async (each) => say(each, 'task_claim', { task_id: 'B1', as: 'x' })));
    expect(claims.filter(({ isError }) => isError)).toHaveLength(1);
    await Promise.all(clients.map(async (each) => each.close()));
  });

  it('a session’s token in the environment is the only authority it has', async () => {
    await daemon.asOperator('task_create', { task_id: 'C1', title: 'Three' });
    const claim = await daemon.asOperator('task_claim', { task_id: 'C1', as: 'agent' });
    const client = await open({ BATON_TOKEN: tokenIn(claim) });
    expect((await say(client, 'task_heartbeat', { task_id: 'C1' })).result).toMatchObject({ epoch: 1 });
    expect((await say(client, 'task_claim', { as: 'agent' })).text).toBe('a session may not call task_claim');
    const listed = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await listed()).toContain('task_update');
    expect(await listed()).not.toContain('task_claim');
    const changed = new Promise((resolve) => {
      client.setNotificationHandler('notifications/tools/list_changed', resolve);
    });
    await say(client, 'task_release', { task_id: 'C1' });
    await changed;
    expect((await listed()).toSorted()).toEqual(['merkle_finalize', 'merkle_root', 'task_brief', 'task_get']);
    await client.close();
  });

  it('never acts for the operator', async () => {
    await expect(open({ BATON_TOKEN: daemon.operatorToken })).rejects.toThrow('closed');
  });

  it('ends when its input does, whatever still waits', async () => {
    const child = spawn(process.execPath, [SERVER], { env: { ...daemon.env }, cwd: daemon.repository });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
    const wait = { name: 'task_claim', arguments: { task_id: 'A1', as: 'x', wait_ms: 600_000 } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })}\n`);
    await once(child.stdout, 'data');
    child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: wait })}\n`);
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  it('outlives a daemon, and reports what it kept meanwhile', async () => {
    await daemon.asOperator('task_create', { task_id: 'D1', title: 'Four' });
    const client = await open();
    await say(client, 'task_claim', { task_id: 'D1', as: 'agent' });
    await daemon.stop();
    const kept = await say(client, 'task_update', { task_id: 'D1', status: 'in_progress', progress: 40 });
    expect(kept).toMatchObject({ isError: false, result: { kept: true } });
    expect(kept.text).toContain('was kept and will be delivered');
    await daemon.start();
    expect((await say(client, 'task_get', { task_id: 'D1' })).result).toMatchObject({ progress: 40 });
    await client.close();
  });
});

async function open(env: Record<string, string> = {}): Promise<Client> {
  return openStdio(daemon, env);
}

function record(taskId: string) {
  return recordOf(taskId, daemon.commit);
}

function tokenIn(answer: unknown): string {
  const { result } = answer as { result: { token: string } }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return result.token;
}
