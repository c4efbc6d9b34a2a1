import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, say } from '../../test/mcp/connect.ts';
import { COMMIT, openTestProject, type OpenedProject } from '../../test/mcp/open-project.ts';
import { McpConnection } from './connection.ts';
import { createMcpServer } from './server.ts';

let backend: OpenedProject;

beforeEach(async () => {
  backend = await openTestProject();
  await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
});
afterEach(async () => backend[Symbol.asyncDispose]());

describe('a connection', () => {
  it("opened with a session's token has its claim from the start", async () => {
    const claim = await backend.call('task_claim', { as: 'a' }, { token: 'worker' });
    const token = claim.ok && hasToken(claim.result) ? claim.result.token : '';
    const client = await connect(backend, { token });
    expect((await say(client, 'task_heartbeat', { task_id: 'T1' })).result).toMatchObject({ epoch: 1 });
    expect((await say(client, 'task_claim', { as: 'a' })).text).toBe('a session may not call task_claim');
    await client.close();
  });

  it('accepts a token as an argument on transports without sessions', async () => {
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

  it('runs a repeated request once', async () => {
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

  it('creates tasks under its claim', async () => {
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

describe('after the end of a claim', () => {
  beforeEach(async () => {
    await backend.asOperator('task_create', { task_id: 'T2', title: 'Two' });
  });

  it('the connection acts for the newest live claim', async () => {
    const client = await connect(backend);
    await say(client, 'task_claim', { task_id: 'T1', as: 'a' });
    await say(client, 'task_claim', { task_id: 'T2', as: 'a' });
    expect((await say(client, 'mission_get')).result).toMatchObject({ task_id: 'T2' });
    const exit = {
      protocol: 'apm2_agent_exit',
      version: '1.0.0',
      phase_completed: 'IMPLEMENTATION',
      exit_reason: 'completed',
    };
    const first = await say(client, 'exit_signal', exit);
    expect(first.result).toMatchObject({ next_phase: 'CI_PENDING' });
    expect((await say(client, 'mission_get')).result).toMatchObject({ task_id: 'T1' });
    // A repeated exit signal ends the remaining claim; then none is left.
    expect((await say(client, 'exit_signal', exit)).result).toMatchObject({ next_phase: 'CI_PENDING' });
    expect(await backend.asOperator('task_get', { task_id: 'T1' })).toMatchObject({ result: { claim: null } });
    const size = backend.project.ledger.head.size;
    expect((await say(client, 'exit_signal', exit)).result).toMatchObject({ next_phase: 'CI_PENDING' });
    expect(backend.project.ledger.head.size).toBe(size);
    await client.close();
  });

  it('a repeat of the request that ended it ends no other claim', async () => {
    const send = await rawConnection();
    const call = async (id: number, name: string, args: object) =>
      send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
    await call(1, 'task_claim', { task_id: 'T1', as: 'a' });
    await call(2, 'task_claim', { task_id: 'T2', as: 'a' });
    const signal = { kind: 'escalate', message: 'stuck' };
    const first = await call(3, 'agent_signal', signal);
    expect(first).toMatchObject({ result: { structuredContent: { kind: 'escalate' } } });
    expect(await call(3, 'agent_signal', signal)).toEqual(first);
    expect(await backend.asOperator('task_get', { task_id: 'T1' })).toMatchObject({ result: { claim: { epoch: 1 } } });
  });

  it('the holder may reinstate like any other caller, and Baton decides whether the work is undone', async () => {
    const client = await connect(backend);
    await say(client, 'task_claim', { task_id: 'T1', as: 'a' });
    const record = { task_id: 'T1', branch: 'b', commit_sha: COMMIT, tests_run: [], summary: 'Done.' };
    const rest = { blockers: [], files_changed: [], related_thought_records: [] };
    await say(client, 'task_complete', { ...record, ...rest });
    const again = await say(client, 'thought_record', { ...record, ...rest, status: 'todo' });
    expect(again.text).toBe('Baton has not found the commit of T1 reverted or gone from the main branch');
    expect(again.result).toMatchObject({ error: { code: 'not-undone' } });
    await client.close();
  });

  it('a refusal states what to do if the claim ended elsewhere', async () => {
    const client = await connect(backend);
    await say(client, 'task_claim', { task_id: 'T1', as: 'a' });
    await say(client, 'task_claim', { task_id: 'T2', as: 'a' });
    await backend.asOperator('task_release', { task_id: 'T2' });
    const refused = await say(client, 'mission_get');
    expect(refused.text).toBe('the claim on T2 has ended: revoked');
    expect(refused.hint).toContain('now act for T1');
    expect((await say(client, 'mission_get')).result).toMatchObject({ task_id: 'T1' });
    await backend.asOperator('task_release', { task_id: 'T1' });
    const last = await say(client, 'mission_get');
    expect(last).toMatchObject({ text: 'the claim on T1 has ended: revoked', isError: true });
    expect(last.hint).toContain('task_claim');
    await say(client, 'task_claim', { task_id: 'T1', as: 'a' });
    expect((await say(client, 'mission_get')).result).toMatchObject({ task_id: 'T1' });
    await client.close();
  });
});

describe('while the daemon is away', () => {
  it('a write goes to the outbox, and the result reports it', async () => {
    const error = { code: 'kept', message: 'the daemon is away: it was kept', hint: 'Nothing is lost.' };
    const client = await connect({ call: async () => ({ ok: false, error }) });
    const said = await say(client, 'task_update', { task_id: 'T1', status: 'done' });
    expect(said).toEqual({ isError: false, text: error.message, hint: error.hint, result: { kept: true } });
    await client.close();
  });
});

/** Sends requests with chosen ids, which the SDK's client does not allow. */
async function rawConnection(): Promise<(message: JSONRPCMessage) => Promise<JSONRPCMessage>> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = createMcpServer(backend, { connection: new McpConnection('worker'), version: '0.0.0' });
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
