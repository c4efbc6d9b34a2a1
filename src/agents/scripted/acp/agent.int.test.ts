import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../../../protocol/shape/read-unknown.ts';
import { newFolder, startAgent } from './test-client.cases.ts';

describe('a scripted ACP agent', () => {
  it('answers a prompt with updates, and further prompts as messages', async () => {
    const agent = await startAgent(`
steps:
  - say: Hello
  - plan: [Look, { content: Fix, status: in_progress }]
  - mode: plan
  - write: { path: a.txt, text: new }
  - run: cat a.txt; exit 3
  - use: { input: 10, output: 5, cached: 2, cost: $0.25 }
  - use: { output: 1, cost: $0.50 }
  - stop
on_message:
  - say: Yes
`);
    expect(await agent.request('initialize')).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: 'baton-scripted', version: expect.any(String) },
      agentCapabilities: { loadSession: true, mcpCapabilities: { http: true } },
    });
    expect(await agent.request('authenticate', { methodId: 'none' })).toEqual({});
    const sessionId = await agent.open();
    writeFileSync(join(agent.cwd, 'a.txt'), 'old');
    expect(await agent.prompt(sessionId, 'Begin')).toEqual({
      stopReason: 'end_turn',
      usage: { totalTokens: 18, inputTokens: 10, outputTokens: 6, cachedReadTokens: 2 },
    });
    const path = `${agent.cwd}/a.txt`;
    const diff = [{ type: 'diff', path, oldText: 'old', newText: 'new' }];
    expect(agent.updates).toMatchObject([
      { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hello' } },
      { sessionUpdate: 'plan', entries: [{ content: 'Look', status: 'pending' }, { content: 'Fix' }] },
      { sessionUpdate: 'current_mode_update', currentModeId: 'plan' },
      { sessionUpdate: 'tool_call', kind: 'edit', title: 'Write a.txt', status: 'pending', locations: [{ path }] },
      { sessionUpdate: 'tool_call_update', status: 'in_progress' },
      { sessionUpdate: 'tool_call_update', status: 'completed', content: diff },
      { sessionUpdate: 'tool_call', kind: 'execute', title: 'cat a.txt; exit 3' },
      { sessionUpdate: 'tool_call_update', status: 'in_progress' },
      { sessionUpdate: 'tool_call_update', status: 'failed', rawOutput: { output: 'new' } },
      { sessionUpdate: 'usage_update', used: 17, cost: { amount: 0.25, currency: 'USD' } },
      { sessionUpdate: 'usage_update', used: 1, cost: { amount: 0.75, currency: 'USD' } },
    ]);
    for (const text of ['Go on', 'Again'])
      expect(await agent.prompt(sessionId, text)).toEqual({ stopReason: 'end_turn' });
    expect(agent.said()).toEqual(['Hello', 'Yes', 'Yes']);
    expect(await agent.leave()).toBe(0);
  });

  it('has modes and models, and refuses what it does not know', async () => {
    const agent = await startAgent('- say: Hello');
    const opened = await agent.request('session/new', { cwd: agent.cwd });
    expect(opened).toMatchObject({
      modes: { currentModeId: 'default', availableModes: [{ id: 'default' }, { id: 'plan' }] },
      configOptions: [{ id: 'model', type: 'select', currentValue: 'scripted' }],
    });
    const { sessionId } = opened;
    const model = { sessionId, configId: 'model', value: 'scripted-large' };
    expect(await agent.request('session/set_mode', { sessionId, modeId: 'plan' })).toEqual({});
    expect(await agent.request('session/set_config_option', model)).toMatchObject({
      configOptions: [{ currentValue: 'scripted-large' }],
    });
    await Promise.all(
      (
        [
          ['session/set_mode', { sessionId, modeId: 'yolo' }, -32_602],
          ['session/set_config_option', { ...model, value: 'other' }, -32_602],
          ['session/set_config_option', { ...model, configId: 'other' }, -32_602],
          ['session/new', { cwd: 'relative' }, -32_602],
          ['session/load', { sessionId: '../x', cwd: agent.cwd }, -32_002],
          ['session/prompt', { sessionId: 'none' }, -32_002],
          ['session/fork', { sessionId }, -32_601],
        ] as const
      ).map(async ([method, params, code]) => expect(agent.request(method, params)).rejects.toMatchObject({ code })),
    );
  });

  it('asks for permission, and the answer becomes part of the conversation', async () => {
    const answers = ['no', 'yes', 'always', 'always'];
    const asked: Fields[] = [];
    const keep = newFolder();
    const agent = await startAgent(ASKING, {
      keep,
      onRequest: (_method, params) => {
        asked.push(params);
        const optionId = answers[asked.length - 1];
        return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
      },
    });
    const sessionId = await agent.open();
    expect(await agent.prompt(sessionId, 'Begin')).toEqual({ stopReason: 'cancelled' });
    expect(asked).toMatchObject([
      { sessionId, toolCall: { title: 'touch rejected', kind: 'execute' }, options: { length: 3 } },
      { toolCall: { title: 'touch allowed' } },
      { toolCall: { title: 'May I?', kind: 'other' } },
      { toolCall: { title: 'touch always' } },
      { toolCall: { title: 'And now?' } },
    ]);
    expect(readdirSync(agent.cwd).toSorted()).toEqual(['allowed', 'always', 'not-asked']);
    const kept: unknown = JSON.parse(readFileSync(join(keep, `scripted-${sessionId}.json`), 'utf8'));
    expect(kept).toMatchObject({
      messages: [{ text: 'Begin' }, { from: 'user', text: 'May I? Always allow' }, { text: 'And now? cancelled' }],
    });
  });

  it('ends a cancelled turn with its command, and continues with the next prompt', async () => {
    const agent = await startAgent(
      '- run: sleep 600 & echo $! > pid; wait\n- say: Hanging\n- hang\n- wait\n- say: Still here',
    );
    const sessionId = await agent.open();
    const working = agent.prompt(sessionId, 'Begin');
    await agent.seen(({ status }) => status === 'in_progress');
    await expect.poll(() => readFileSync(join(agent.cwd, 'pid'), 'utf8')).toMatch(/\d\n/);
    const pid = Number(readFileSync(join(agent.cwd, 'pid'), 'utf8'));
    agent.notify('session/cancel', { sessionId });
    expect(await working).toEqual({ stopReason: 'cancelled' });
    await expect.poll(() => isRunning(pid)).toBe(false);
    const [hanging, behind] = [agent.prompt(sessionId, 'Again'), agent.prompt(sessionId, 'And this')];
    await agent.seen(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    agent.notify('session/cancel', { sessionId });
    expect(await Promise.all([hanging, behind])).toEqual([{ stopReason: 'cancelled' }, { stopReason: 'cancelled' }]);
    // A prompt that arrives while the agent waits for a message ends the turn.
    const [waiting, next] = [agent.prompt(sessionId, 'Wait'), agent.prompt(sessionId, 'Now')];
    expect(await Promise.all([waiting, next])).toEqual([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }]);
    expect(agent.said()).toEqual(['Hanging', 'Still here']);
  });

  it('fails a turn with the kind of the error', async () => {
    const reset = '"2026-11-15T12:00:00Z"';
    const agent = await startAgent(
      `steps: [error: { kind: rate_limited, message: slow down, reset_at: ${reset} }, error: unauthorized, error: out_of_credits, error: no_internet]`,
    );
    const sessionId = await agent.open();
    const failed = async (): Promise<unknown> => agent.prompt(sessionId, 'Begin').catch((error: unknown) => error);
    expect(await failed()).toMatchObject({
      code: -32_603,
      message: 'slow down',
      data: { errorKind: 'rate_limit', resetAt: '2026-11-15T12:00:00Z' },
    });
    expect(await failed()).toMatchObject({ code: -32_000, data: { errorKind: 'unauthorized' } });
    expect(await failed()).toMatchObject({ data: { errorKind: 'billing' } });
    expect(await failed()).toMatchObject({ data: { errorKind: 'server_error' } });
    expect(await agent.leave()).toBe(1);
  });

  it('continues a session in another process, after the step that ended it', async () => {
    const keep = newFolder();
    const script = '- say: One\n- crash: 9\n- say: Two';
    const first = await startAgent(script, { keep });
    const sessionId = await first.open();
    await expect(first.prompt(sessionId, 'Begin')).rejects.toMatchObject({ message: 'the connection is closed' });
    expect(await first.leave()).toBe(9);
    const second = await startAgent(script, { env: { BATON_AGENT_DIR: keep } });
    await second.request('session/load', { sessionId, cwd: second.cwd, mcpServers: [] });
    expect(second.updates).toMatchObject([
      { sessionUpdate: 'user_message_chunk', content: { text: 'Begin' } },
      { sessionUpdate: 'agent_message_chunk', content: { text: 'One' } },
    ]);
    expect(await second.prompt(sessionId, 'Where were you?')).toEqual({ stopReason: 'end_turn' });
    expect(second.said()).toEqual(['One', 'Two']);
  });

  it('runs tools through the client, with paths as the script has them', async () => {
    const asked: [string, Fields][] = [];
    const killed = Promise.withResolvers<void>();
    const agent = await startAgent(
      'tools: client\nsteps: [write: { path: ../out.txt, text: x }, read: /etc/passwd, run: make, run: make]',
      {
        capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
        onRequest: async (method, params) => {
          asked.push([method, params]);
          if (method === 'terminal/kill') killed.resolve();
          if (method === 'terminal/create') return { terminalId: 't1' };
          // The second command runs until it is killed.
          if (method === 'terminal/wait_for_exit' && asked.length > 7) await killed.promise;
          return { content: 'secret', exitCode: 2, output: 'no rule' };
        },
      },
    );
    const sessionId = await agent.open();
    const working = agent.prompt(sessionId, 'Begin');
    await expect.poll(() => asked.filter(([method]) => method === 'terminal/wait_for_exit')).toHaveLength(2);
    agent.notify('session/cancel', { sessionId });
    expect(await working).toEqual({ stopReason: 'cancelled' });
    await expect.poll(() => asked.filter(([method]) => method === 'terminal/release')).toHaveLength(2);
    expect(asked.slice(0, 6)).toMatchObject([
      ['fs/write_text_file', { sessionId, path: `${agent.cwd}/../out.txt`, content: 'x' }],
      ['fs/read_text_file', { sessionId, path: '/etc/passwd' }],
      ['terminal/create', { sessionId, command: '/bin/sh', args: ['-c', 'make'], cwd: agent.cwd }],
      ['terminal/wait_for_exit', { sessionId, terminalId: 't1' }],
      ['terminal/output', {}],
      ['terminal/release', {}],
    ]);
    expect(agent.updates).toContainEqual(
      expect.objectContaining({ content: [{ type: 'terminal', terminalId: 't1' }] }),
    );
    const ended = agent.updates.filter(({ status }) => status === 'completed' || status === 'failed');
    expect(ended).toMatchObject([
      { status: 'completed' },
      { status: 'completed', rawOutput: { output: 'secret' } },
      { status: 'failed', rawOutput: { output: 'no rule' } },
      { status: 'failed' },
    ]);
  });
});

const ASKING = `
permissions: ask
steps:
  - run: touch rejected
  - run: touch allowed
  - ask: May I?
  - run: touch always
  - run: touch not-asked
  - ask: And now?
  - say: Not reached in this turn
`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
