import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, say } from '../../test/mcp/connect.ts';
import { COMMIT, openTestProject, type OpenedProject } from '../../test/mcp/open-project.ts';
import { OPERATIONS } from '../api/operations/registry.ts';

let backend: OpenedProject;
let client: Client;

beforeEach(async () => {
  backend = await openTestProject();
  client = await connect(backend);
});
afterEach(async () => {
  await client.close();
  await backend[Symbol.asyncDispose]();
});

const RECORD = {
  task_id: 'P0.1.1',
  branch: 'feature/p0-1-1-setup',
  commit_sha: COMMIT,
  tests_run: ['smoke.test.ts'],
  summary: 'It is set up.',
  blockers: [],
  files_changed: ['package.json'],
  related_thought_records: [],
};

/** The tools in section 5 of the specification, without later additions. */
const SPECIFIED =
  'task_update thought_record task_next_actions audit_session_start audit_verify_chain merkle_finalize merkle_root ' +
  'task_create task_get task_list task_claim task_heartbeat task_release task_complete task_brief mission_get ' +
  'result_submit handoff_send exit_signal agent_signal';

describe('the tools', () => {
  it('are the operations open to models, with their texts and fields', async () => {
    const { tools } = await client.listTools();
    const expected = [...OPERATIONS.values()].filter(({ tool }) => tool);
    expect(tools.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
    for (const { name, description, inputSchema } of tools) {
      const { about, schema, input, unlistedFields = [] } = OPERATIONS.get(name) ?? {};
      expect(description).toBe(about);
      expect(inputSchema.required ?? []).toEqual(schema?.['required']);
      const fields = Object.keys(input?.fields ?? {}).filter((field) => !unlistedFields.includes(field));
      expect(Object.keys(inputSchema.properties ?? {})).toEqual(fields);
    }
  });

  it('are read-only only if they change nothing', async () => {
    const { tools } = await client.listTools();
    for (const { name, annotations } of tools) {
      const reads = OPERATIONS.get(name)?.kind === 'read';
      const writes = { destructiveHint: name === 'merge_request', openWorldHint: false };
      expect([name, annotations]).toMatchObject([name, reads ? { readOnlyHint: true } : writes]);
      expect(annotations?.readOnlyHint === true).toBe(reads);
    }
    expect(tools.find(({ name }) => name === 'task_worktree')?.annotations).toMatchObject({ idempotentHint: true });
  });

  it('include those of the specification', async () => {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(SPECIFIED.split(' ')));
    expect(names).not.toEqual(expect.arrayContaining(['task_waive']));
  });

  it('describe every argument, unless a format or another tool does', async () => {
    const { tools } = await client.listTools();
    const bare = tools.flatMap(({ name, inputSchema }) =>
      Object.entries(inputSchema.properties ?? {})
        .filter(([, schema]) => typeof schema !== 'object' || schema === null || !('description' in schema))
        .map(([field]) => `${name}.${field}`),
    );
    expect(bare.filter((field) => !field.startsWith('task_complete.'))).toEqual(['result_submit.completed_at']);
  });
});

describe('a connection', () => {
  it('acts for its task after a claim', async () => {
    await backend.asOperator('task_create', { task_id: 'P0.1.1', title: 'Setup' });
    const claim = await say(client, 'task_claim', { as: 'agent-a' });
    expect(claim.result).toMatchObject({ task_id: 'P0.1.1', epoch: 1 });
    expect((await say(client, 'task_heartbeat', { task_id: 'P0.1.1' })).result).toMatchObject({ epoch: 1 });
    expect((await say(client, 'task_update', { task_id: 'P0.1.1', status: 'done' })).text).toBe(
      'Writeback required: thought_record must be recorded before task completion.',
    );
    expect((await say(client, 'thought_record', RECORD)).isError).toBe(false);
    const done = await say(client, 'task_update', { task_id: 'P0.1.1', status: 'done', progress: 100 });
    expect(done.result).toEqual({ task_id: 'P0.1.1', status: 'done' });
    expect((await say(client, 'task_get', { task_id: 'P0.1.1' })).result).toMatchObject({
      status: 'done',
      claim: null,
    });
  });

  it('acts for the newest claim if a call names no task', async () => {
    await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
    await say(client, 'task_claim', { as: 'agent-a' });
    expect((await say(client, 'mission_get')).result).toMatchObject({ instruction: 'One' });
    const exit = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: 'IMPLEMENTATION' };
    expect((await say(client, 'exit_signal', { ...exit, exit_reason: 'completed' })).isError).toBe(false);
    expect((await say(client, 'task_heartbeat', { task_id: 'T1' })).text).toBe(
      'the claim on T1 has ended, or is not yours',
    );
  });

  it("has only a worker's rights before it claims", async () => {
    await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
    const refused = await say(client, 'task_update', { task_id: 'T1', status: 'done' });
    expect(refused).toMatchObject({ isError: true, text: 'a worker may not call task_update' });
    expect(refused.result).toMatchObject({ error: { code: 'forbidden' } });
  });

  it('cannot write under a claim that another connection has taken over', async () => {
    await backend.asOperator('task_create', { task_id: 'P0.1.1', title: 'Setup' });
    await say(client, 'task_claim', { as: 'agent-a' });
    await backend.asOperator('task_release', { task_id: 'P0.1.1' });
    const other = await connect(backend);
    await say(other, 'task_claim', { as: 'agent-b' });
    expect(await say(client, 'thought_record', RECORD)).toMatchObject({
      isError: true,
      text: 'stale claim: epoch 1 < 2',
    });
    await other.close();
  });

  it('races with another connection for a task, and one of them gets it', async () => {
    await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
    const other = await connect(backend);
    const claims = await Promise.all([
      say(client, 'task_claim', { task_id: 'T1', as: 'a' }),
      say(other, 'task_claim', { task_id: 'T1', as: 'b' }),
    ]);
    expect(claims.filter(({ isError }) => isError)).toHaveLength(1);
    await other.close();
  });
});

describe('an error', () => {
  it('is a tool result, with the text of every surface', async () => {
    const badId = await say(client, 'task_get', { task_id: '../x' });
    expect(badId.isError).toBe(true);
    expect(badId.result).toMatchObject({ error: { code: 'bad-request', message: badId.text } });
    expect((await say(client, 'task_get', {})).isError).toBe(true);
    expect(await say(client, 'task_get', { task_id: 'T9' })).toMatchObject({ isError: true });
  });

  it('is a protocol error only for an unknown tool', async () => {
    await expect(say(client, 'task_waive', {})).rejects.toThrow('task_waive');
  });
});

describe('a write', () => {
  it('has an idempotency key, and a read has none', async () => {
    await say(client, 'task_create', { task_id: 'T1', title: 'One' });
    await say(client, 'task_create', { task_id: 'T1', title: 'One' });
    await say(client, 'task_get', { task_id: 'T1' });
    const [first, second, third] = backend.calls.map(({ key }) => key);
    expect(first).toMatch(/^mcp:.{1,124}$/);
    expect(second).not.toBe(first);
    expect(third).toBeUndefined();
  });
});
