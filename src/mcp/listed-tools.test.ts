import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, say } from '../../test/mcp/connect.ts';
import { openTestProject, type OpenedProject } from '../../test/mcp/open-project.ts';
import { OPERATIONS } from '../api/operations/registry.ts';
import { type CallerView, usableTools, WORKER } from './tools-in-state.ts';

type SessionView = NonNullable<CallerView['session']>;

function session(more: Partial<SessionView> = {}): CallerView {
  const view: SessionView = {
    task_id: 'T1',
    phase: 'IMPLEMENTATION',
    holds_claim: true,
    started: true,
    exit_protocol: true,
    hands_off: true,
    judges: false,
    ...more,
  };
  return { kind: 'session', session: view };
}

const STATES: Readonly<Record<string, CallerView>> = {
  worker: WORKER,
  'an agent without a task': { kind: 'agent', session: null },
  'an implementer that Baton started': session(),
  'a validator that Baton started': session({ phase: 'READY_FOR_MERGE', judges: true }),
  'a session without a role': session({ hands_off: false }),
  'a session without the exit protocol': session({ exit_protocol: false, hands_off: false }),
  'a claim taken by hand': session({ started: false, hands_off: false }),
  'a claim taken by hand, with a role': session({ started: false }),
  'a session whose claim has ended': session({ holds_claim: false }),
};

const ALL = [...OPERATIONS.values()].filter(({ tool }) => tool).map(({ name }) => name);

/** A client of a daemon that returns this view of every caller. */
async function clientOf(view: CallerView | undefined, takesToken = false): Promise<Client> {
  const error = { code: 'no-answer', message: 'no daemon', hint: 'baton up' };
  const answer = view === undefined ? ({ ok: false, error } as const) : ({ ok: true, result: view } as const);
  return connect({ call: async () => answer }, { token: 's.token', takesToken });
}

async function listOf(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

describe('the tools that a caller can use', () => {
  it.each(Object.entries(STATES))('are allowed to it by the daemon: %s', (_, view) => {
    const names = [...usableTools(view)];
    const forbidden = names.filter((name) => !OPERATIONS.get(name)?.access.some((kind) => kind === view.kind));
    expect(forbidden).toEqual([]);
    expect(names.filter((name) => !ALL.includes(name as (typeof ALL)[number]))).toEqual([]);
  });

  it('are, over all states, every tool', () => {
    const usable = new Set(Object.values(STATES).flatMap((view) => [...usableTools(view)]));
    expect(ALL.filter((name) => !usable.has(name))).toEqual([]);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['worker', ['task_claim', 'task_next_actions'], ['task_update', 'exit_signal', 'task_heartbeat']],
    ['an agent without a task', ['agent_signal'], ['task_claim', 'exit_signal', 'result_submit']],
    [
      'an implementer that Baton started',
      ['result_submit', 'thought_record', 'handoff_send', 'exit_signal', 'mission_get', 'form_get'],
      ['task_claim', 'task_complete', 'task_heartbeat', 'task_worktree', 'merge_request', 'task_check'],
    ],
    ['a validator that Baton started', ['merge_request', 'task_check'], []],
    ['a session without a role', ['exit_signal'], ['handoff_send']],
    ['a session without the exit protocol', ['agent_signal'], ['exit_signal']],
    ['a claim taken by hand', ['task_complete', 'task_heartbeat', 'task_worktree'], ['result_submit', 'mission_get']],
    ['a session whose claim has ended', ['task_get', 'merkle_root'], ['task_update', 'thought_record', 'exit_signal']],
  ])('depend on its state: %s', (state, listed, unlisted) => {
    const names = usableTools(STATES[state] ?? WORKER);
    expect([...names]).toEqual(expect.arrayContaining([...listed]));
    expect(unlisted.filter((name) => names.has(name))).toEqual([]);
  });
});

describe('the size of the list', () => {
  /** Byte limits of `tools` in the answer to `tools/list`: names, descriptions, schemas and annotations. */
  const LIMITS: Readonly<Record<string, number>> = {
    worker: 15_700,
    'an agent without a task': 4_500,
    'an implementer that Baton started': 11_200,
    'a validator that Baton started': 12_050,
    'a session without a role': 10_700,
    'a session without the exit protocol': 9_500,
    'a claim taken by hand': 10_000,
    'a claim taken by hand, with a role': 10_500,
    'a session whose claim has ended': 2_000,
  };

  it.each(Object.entries(STATES))('stays below its limit: %s', async (state, view) => {
    // Over HTTP a session has the same list.
    const client = await clientOf(view, state !== 'worker');
    const { tools } = await client.listTools();
    const bytes = Buffer.byteLength(JSON.stringify(tools));
    expect(bytes).toBeLessThan(LIMITS[state] ?? 0);
    // A limit far above the size of the list would hide its growth.
    expect(bytes).toBeGreaterThan((LIMITS[state] ?? 0) * 0.8);
    await client.close();
  });
});

it('shows a worker over HTTP the token of its claim', async () => {
  const client = await clientOf(WORKER, true);
  const { tools } = await client.listTools();
  expect(tools.every(({ inputSchema }) => 'token' in (inputSchema.properties ?? {}))).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(18_150);
  await client.close();
});

describe('a connection', () => {
  let backend: OpenedProject;

  beforeEach(async () => {
    backend = await openTestProject();
    await backend.asOperator('task_create', { task_id: 'T1', title: 'One' });
    await backend.asOperator('task_create', { task_id: 'T2', title: 'Two' });
  });
  afterEach(async () => backend[Symbol.asyncDispose]());

  it('has every tool before its first claim: its client may never read the list again', async () => {
    const client = await connect(backend);
    expect(await listOf(client)).toEqual(ALL);
    await client.close();
  });

  it('has every tool if the daemon does not report the caller', async () => {
    const client = await clientOf(undefined);
    expect(await listOf(client)).toEqual(ALL);
    await client.close();
  });

  it('is notified when it claims and when its claim ends, if the list changes', async () => {
    const client = await connect(backend);
    const changed = vi.fn<() => void>();
    client.setNotificationHandler('notifications/tools/list_changed', changed);
    await say(client, 'task_claim', { task_id: 'T2', as: 'a' });
    expect(changed).not.toHaveBeenCalled(); // The client has not read the list yet.
    await say(client, 'task_release', { task_id: 'T2' });

    await listOf(client);
    await say(client, 'task_claim', { task_id: 'T1', as: 'a' });
    expect(changed).toHaveBeenCalledTimes(1);
    const under = await listOf(client);
    expect(under).toEqual(expect.arrayContaining(['task_claim', 'task_complete', 'exit_signal', 'thought_record']));
    expect(under).not.toEqual(expect.arrayContaining(['handoff_send']));
    expect(under).not.toEqual(expect.arrayContaining(['result_submit']));

    await say(client, 'task_claim', { task_id: 'T2', as: 'a' });
    await say(client, 'task_heartbeat', { task_id: 'T1' });
    await say(client, 'task_release', { task_id: 'T2' });
    expect(changed).toHaveBeenCalledTimes(1);

    await say(client, 'task_release', { task_id: 'T1' });
    expect(changed).toHaveBeenCalledTimes(2);
    // This client has read the list after a notification, so it is known to follow changes.
    expect(new Set(await listOf(client))).toEqual(usableTools(WORKER));
    await client.close();
  });

  it('keeps every tool between claims for a client that does not read the list again', async () => {
    const client = await connect(backend);
    await listOf(client);
    await say(client, 'task_claim', { task_id: 'T1', as: 'a' });
    await say(client, 'task_release', { task_id: 'T1' });
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
    expect(await listOf(client)).toEqual(ALL);
    vi.restoreAllMocks();
    await client.close();
  });

  it('is notified when a refusal shows that its claim has ended', async () => {
    const client = await connect(backend);
    const changed = vi.fn<() => void>();
    client.setNotificationHandler('notifications/tools/list_changed', changed);
    await say(client, 'task_claim', { task_id: 'T1', as: 'a' });
    await listOf(client);
    await backend.asOperator('task_release', { task_id: 'T1' });
    expect((await say(client, 'task_heartbeat')).isError).toBe(true);
    expect(changed).toHaveBeenCalledTimes(1);
    await client.close();
  });

  it("of a session lists its own tools, without a token argument, and only its task's after the end", async () => {
    const claim = await backend.call('task_claim', { task_id: 'T1', as: 'a', role: 'implementer' }, {});
    const { token } = claim.ok ? (claim.result as { token: string }) : { token: '' }; // oxlint-disable-line typescript/no-unsafe-type-assertion
    const client = await connect(backend, { token, takesToken: true });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['handoff_send', 'exit_signal']));
    expect(tools.filter(({ inputSchema }) => 'token' in (inputSchema.properties ?? {}))).toEqual([]);
    await say(client, 'task_release', { task_id: 'T1' });
    expect((await listOf(client)).toSorted()).toEqual(['merkle_finalize', 'merkle_root', 'task_brief', 'task_get']);
    await client.close();
  });

  it('gets the refusal of the daemon for a tool that is not listed', async () => {
    const client = await connect(backend);
    await listOf(client);
    await say(client, 'task_claim', { task_id: 'T1', as: 'a' });
    expect(await listOf(client)).not.toContain('handoff_send');
    expect(await say(client, 'handoff_send')).toMatchObject({
      isError: true,
      text: 'the claim on T1 has no role: there is no handoff to fill in',
      result: { error: { code: 'no-such-form' } },
    });
    await client.close();
  });
});
