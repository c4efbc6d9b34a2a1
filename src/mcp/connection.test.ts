import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, say } from '../../test/mcp/connect.ts';
import { openTestProject, type OpenedProject } from '../../test/mcp/open-project.ts';
import { Connection } from './connection.ts';
import { createMcpServer } from './server.ts';

let backend: OpenedProject;

beforeEach(async () => {
  backend = await openTestProject();
  await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
});
afterEach(async () => backend[Symbol.asyncDispose]());

describe('a connection', () => {
  it('that came with the token of a session has its claim from the beginning', async () => {
    const claim = await backend.call('task_claim', { as: 'a' }, { token: 'worker' });
    const token = claim.ok && hasToken(claim.result) ? claim.result.token : '';
    const client = await connect(backend, { token });
    expect((await say(client, 'task_heartbeat', { task_id: 'T1' })).result).toMatchObject({ epoch: 1 });
    expect((await say(client, 'task_claim', { as: 'a' })).text).toBe('a session may not call task_claim');
    await client.close();
  });

  it('takes a token as an argument where it may have been another one that claimed', async () => {
    const first = await connect(backend, { takesToken: true });
    const { token } = (await say(first, 'task_claim', { as: 'a' })).result;
    await first.close();
    const second = await connect(backend, { takesToken: true });
    expect((await say(second, 'task_heartbeat', { task_id: 'T1' })).isError).toBe(true);
    expect((await say(second, 'task_heartbeat', { task_id: 'T1', token })).result).toMatchObject({ epoch: 1 });
    const { tools } = await second.listTools();
    expect(tools.every(({ inputSchema }) => 'token' in (inputSchema.properties ?? {}))).toBe(true);
    await second.close();
  });

  it('does a request that is sent twice once', async () => {
    const send = await rawConnection();
    const params = { name: 'task_claim', arguments: { task_id: 'T1', as: 'a' } };
    const claimed = { result: { structuredContent: { task_id: 'T1', epoch: 1 } } };
    expect(await send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })).toMatchObject(claimed);
    const size = backend.project.ledger.head.size;
    expect(await send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })).toMatchObject(claimed);
    expect(backend.project.ledger.head.size).toBe(size);
    const other = { ...params, arguments: { task_id: 'T9', as: 'a' } };
    const refused = { result: { structuredContent: { error: { code: 'no-such-task' } } } };
    expect(await send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: other })).toMatchObject(refused);
  });

  it('creates tasks under the claim that it has', async () => {
    const client = await connect(backend);
    const created = { task_id: 'T2', title: 'Found on the way' };
    expect((await say(client, 'task_create', created)).text).toBe('a worker may not call task_create');
    await say(client, 'task_claim', { task_id: 'T1', as: 'a' });
    expect((await say(client, 'task_create', created)).result).toMatchObject({ task_id: 'T2' });
    expect((await say(client, 'task_update', { task_id: 'T2', status: 'blocked', notes: 'x' })).text).toBe(
      'this session works on T1, not on T2',
    );
    await client.close();
  });
});

describe('while the daemon is away', () => {
  it('a write is in the outbox, and the result says so', async () => {
    const error = { code: 'kept', message: 'the daemon is away: it was kept', hint: 'Nothing is lost.' };
    const client = await connect({ call: async () => ({ ok: false, error }) });
    const said = await say(client, 'task_update', { task_id: 'T1', status: 'done' });
    expect(said).toEqual({ isError: false, text: error.message, hint: error.hint, result: { kept: true } });
    await client.close();
  });
});

/** Requests with ids of our own choosing, which the SDK's client does not allow. */
async function rawConnection(): Promise<(message: JSONRPCMessage) => Promise<JSONRPCMessage>> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = createMcpServer(backend, { connection: new Connection('worker'), version: '0.0.0' });
  await server.connect(theirs);
  const onmessage = vi.fn<(message: JSONRPCMessage) => void>();
  ours.onmessage = onmessage; // oxlint-disable-line unicorn/prefer-add-event-listener
  await ours.start();
  const send = async (message: JSONRPCMessage): Promise<JSONRPCMessage> => {
    const answered = new Promise<JSONRPCMessage>((resolve) => {
      onmessage.mockImplementationOnce(resolve);
    });
    await ours.send(message);
    return answered;
  };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  return send;
}

function hasToken(value: unknown): value is { token: string } {
  return typeof value === 'object' && value !== null && 'token' in value;
}
