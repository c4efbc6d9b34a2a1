import type { Client, ProgressCallback } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, say, saidOf } from '../../test/mcp/connect.ts';
import { openTestProject, type OpenedProject } from '../../test/mcp/open-project.ts';

const LONG_MS = 600_000;

let backend: OpenedProject;
let client: Client;

beforeEach(async () => {
  backend = await openTestProject();
  client = await connect(backend, { progressMs: 5 });
});
afterEach(async () => {
  await client.close();
  await backend[Symbol.asyncDispose]();
});

describe('a call that waits', () => {
  it('returns when a task becomes available', async () => {
    const waiting = say(client, 'task_next_actions', { wait_ms: LONG_MS });
    await begun('task_next_actions');
    await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
    expect((await waiting).result).toMatchObject({ tasks: [{ id: 'T1' }] });
  });

  it('sends progress to a client that asked for it', async () => {
    const onprogress = vi.fn<ProgressCallback>();
    const call = { name: 'task_claim', arguments: { as: 'a', wait_ms: LONG_MS } };
    const waiting = client.callTool(call, { onprogress, resetTimeoutOnProgress: true });
    await vi.waitFor(() => expect(onprogress.mock.calls.length).toBeGreaterThan(2));
    const [[first], [second]] = [onprogress.mock.calls[0] ?? [], onprogress.mock.calls[1] ?? []];
    expect(first).toMatchObject({ total: LONG_MS });
    expect(second?.progress).toBeGreaterThan(first?.progress ?? Infinity);
    await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
    expect(saidOf(await waiting).result).toMatchObject({ task_id: 'T1' });
  });

  it('can be cancelled', async () => {
    await expect(callOff('task_next_actions', { wait_ms: LONG_MS })).rejects.toThrow('enough');
    await expect(callOff('task_claim', { as: 'a', wait_ms: LONG_MS })).rejects.toThrow('enough');
    await settledAgain();
    await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
    expect(await claimOf('T1')).toBeNull();
  });

  it('keeps no claim that was granted at the moment of its cancellation', async () => {
    const stop = new AbortController();
    const call = { name: 'task_claim', arguments: { as: 'a', wait_ms: LONG_MS } };
    const waiting = client.callTool(call, { signal: stop.signal });
    await begun('task_claim');
    const made = backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await made;
    await vi.waitFor(async () => expect(await claimOf('T1')).toBeNull());
    expect(backend.calls.map(({ operation }) => operation)).toContain('task_release');
  });

  it('keeps no claim whose answer was in flight when it was cancelled', async () => {
    await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
    await backend.asOperator('task_create', { task_id: 'T2', title: 'Two' });
    const ids = spyOnIds();
    const claim = async (task_id: string) => client.callTool({ name: 'task_claim', arguments: { task_id, as: 'a' } });
    expect(saidOf(await claim('T1')).result).toMatchObject({ task_id: 'T1' });
    expect(saidOf(await claim('T2')).result).toMatchObject({ task_id: 'T2' });
    await say(client, 'task_heartbeat', { task_id: 'T2' });
    // Both requests were answered before. Only one of the two claims was used.
    for (const requestId of ids.slice(0, 2))
      await client.notification({ method: 'notifications/cancelled', params: { requestId } });
    await vi.waitFor(async () => expect(await claimOf('T1')).toBeNull());
    expect(await claimOf('T2')).toMatchObject({ epoch: 1 });
    expect((await say(client, 'task_heartbeat', { task_id: 'T1' })).isError).toBe(true);
    expect((await say(client, 'task_heartbeat', { task_id: 'T2' })).isError).toBe(false);
  });
});

/** Ids of the requests that the client sends from now on. */
function spyOnIds(): (string | number)[] {
  const ids: (string | number)[] = [];
  const { transport } = client;
  const send = transport?.send.bind(transport);
  if (transport === undefined || send === undefined) throw new Error('not connected');
  transport.send = async (message, options) => {
    if ('id' in message && 'method' in message) ids.push(message.id);
    return send(message, options);
  };
  return ids;
}

async function callOff(name: string, args: Record<string, unknown>): Promise<unknown> {
  const stop = new AbortController();
  const waiting = client.callTool({ name, arguments: args }, { signal: stop.signal });
  await begun(name);
  stop.abort(new Error('enough'));
  return waiting;
}

async function begun(operation: string): Promise<void> {
  await vi.waitFor(() => expect(backend.calls.at(-1)?.operation).toBe(operation));
  await backend.project.commandLoop.whenIdle();
}

/** Resolves when the server has repeated the cancelled `task_claim` to find out whether it was granted. */
async function settledAgain(): Promise<void> {
  const asked = (): number => backend.calls.filter(({ operation }) => operation === 'task_claim').length;
  await vi.waitFor(() => expect(asked()).toBe(2));
  await backend.project.commandLoop.whenIdle();
}

async function claimOf(taskId: string): Promise<unknown> {
  const answer = await backend.asOperator('task_get', { task_id: taskId });
  return answer.ok && typeof answer.result === 'object' && answer.result !== null && 'claim' in answer.result
    ? answer.result.claim
    : answer;
}
