import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../test/processes/until.ts';
import { createClient } from '../api/client/connect.ts';
import { listKept } from '../api/outbox.ts';
import { stateFiles } from '../api/state-folder.ts';
import { Scene, TOKEN, type Supervised } from './scene.cases.ts';
import { TEXTS } from './stop.cases.ts';
import { inLongLane } from '../../test/lanes.ts';

const WAITS = { argv: ['/bin/sh', '-c', 'exec cat'] } as const;
const EXIT =
  '{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}';
const SAYS = (text: string): string =>
  JSON.stringify({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } });

describe('the hook server of a supervisor', () => {
  it('refuses requests without the right token, from another host, or from a page', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start(WAITS);
    const status = async (path: string, headers: Record<string, string>): Promise<number> =>
      (await run.post(path, {}, headers)).status;
    expect(await status('/hook/stop', { authorization: 'Bearer wrong' })).toBe(401);
    expect(await status('/hook/stop', { authorization: '' })).toBe(401);
    expect(await status('/control', {})).toBe(401);
    expect(await status('/hook/stop', { origin: 'https://example.com' })).toBe(403);
    expect(await status('/elsewhere', {})).toBe(404);
    expect(await rawStatus(run, 'evil.example.com')).toBe(403);
    expect(await rawStatus(run, 'localhost')).toBe(200);
  });

  it('forwards calls unchanged, and streams as they arrive', async () => {
    await using scene = new Scene({ task_show: () => ({ ok: true, result: { id: 'T1' } }) });
    await scene.daemon.start();
    const run = await scene.start(WAITS);
    expect(await run.call('task_show', { id: 'T1' })).toEqual({ ok: true, result: { id: 'T1' } });
    expect(scene.daemon.of('task_show')).toMatchObject([{ token: TOKEN, input: { id: 'T1' } }]);
    const streamed = await run.post('/mcp', '{"jsonrpc":"2.0"}');
    expect(streamed.headers.get('content-type')).toBe('text/event-stream');
    expect(await streamed.text()).toBe('data: first {"jsonrpc":"2.0"}\n\ndata: last\n\n');
  });

  it('forwards requests with another token, for the daemon to judge, and keeps none of them', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start(WAITS);
    const other = { authorization: 'Bearer s.other' };
    await run.post('/v1/agent_signal', { kind: 'complete' }, other);
    expect(scene.daemon.of('agent_signal')).toMatchObject([{ token: 's.other' }]);
    expect(await run.stop()).toContain(TEXTS.signal);
    await scene.daemon.stop();
    expect((await run.post('/v1/agent_signal', { kind: 'complete' }, other)).status).toBe(401);
  });

  it("is used by an agent's client by default", async () => {
    await using scene = new Scene();
    const run = await scene.start(WAITS);
    const { port } = await run.running();
    const env = { BATON_STATE_DIR: scene.stateDir, BATON_TOKEN: TOKEN, BATON_URL: `http://127.0.0.1:${port}` };
    const client = createClient({ env, autostart: false });
    // The daemon is away, so only the supervisor can have answered.
    expect(await client.call('agent_signal', { kind: 'complete' })).toMatchObject({
      ok: false,
      error: { code: 'kept' },
    });
    client.close();
    expect(await run.stop()).toBeNull();
  });
});

describe('the answer to a stop that is on record', () => {
  it("contains the agent's standing: if it lost its owner, it may stop at once", async () => {
    const standing = { has_signalled: false, is_owned: false, is_parked: false, missing: [] };
    await using scene = new Scene({ agent_report: () => ({ ok: true, result: { standing } }) });
    await scene.daemon.start();
    const run = await scene.start(WAITS, { on_stop: 'idle', attempts: 'forever' });
    expect(await run.stop()).toBe(TEXTS.idle);
    expect(await run.stop()).toBeNull();
    expect(scene.daemon.reports('idle')).toHaveLength(1);
  });
});

describe('an agent that is leaving', () => {
  it('is reported not to have received a message when its exit is recorded, not before', async () => {
    const standing = { has_signalled: false, is_owned: true, is_parked: true, missing: [] };
    await using scene = new Scene({ agent_standing: () => ({ ok: true, result: standing }) });
    await scene.daemon.start();
    const [ends, goes] = [join(scene.cwd, 'ends'), join(scene.cwd, 'goes')];
    const waits = (file: string): string => `until test -e ${file}; do sleep 0.05; done`;
    const script = `${waits(ends)}; echo '{"type":"result","is_error":false}'; cat; echo leaving; ${waits(goes)}`;
    const run = await scene.start({ argv: ['/bin/sh', '-c', script], output: 'stream-json' });
    await until('it may rest', () => scene.daemon.of('agent_standing').length > 0);
    expect(await run.stop()).toBeNull();
    writeFileSync(ends, '');
    await until('it leaves', () => readFileSync(run.files.log, 'utf8').includes('leaving'));
    const late = run.control({ kind: 'send', message_id: 'm2', text: 'too late' });
    writeFileSync(goes, '');
    expect(await late).toMatchObject({ ok: false });
    expect(scene.daemon.reports('exited')).toHaveLength(1);
    expect(readFileSync(run.files.log, 'utf8')).not.toContain('too late');
  });
});

describe('while the daemon is away', () => {
  it('a signal is kept, lets the agent stop, and is delivered once when the daemon is back', async () => {
    await using scene = new Scene();
    const run = await scene.start(WAITS);
    expect(await run.stop()).toContain(TEXTS.signal);
    expect(await run.call('agent_signal', { kind: 'complete' })).toMatchObject({ ok: false, error: { code: 'kept' } });
    expect(await run.stop()).toBeNull();
    await scene.daemon.start();
    await run.control({ kind: 'kill', reason: '' });
    await run.exit();
    expect(scene.daemon.of('agent_signal')).toHaveLength(1);
    expect(scene.daemon.reports('started')).toHaveLength(1);
    expect(scene.daemon.reports('exited')).toHaveLength(1);
  });

  it('its exit does not overtake a signal that was kept before it', async () => {
    await using scene = new Scene();
    const run = await scene.start(WAITS);
    expect(await run.call('agent_signal', { kind: 'complete' })).toMatchObject({ ok: false, error: { code: 'kept' } });
    scene.daemon.isKilledAtDelivery = true;
    await scene.daemon.start();
    await run.control({ kind: 'kill', reason: '' });
    await run.exit();
    expect(scene.daemon.reports('exited')).toEqual([]);
    await scene.daemon.stop();
    scene.daemon.isKilledAtDelivery = false;
    await scene.daemon.start();
    const told = scene.daemon.calls.map(({ operation, input }) => input['kind'] ?? operation);
    expect(told.filter((word) => word === 'complete' || word === 'exited')).toEqual(['complete', 'exited']);
  });

  it('its exit waits in the outbox', async () => {
    await using scene = new Scene();
    const run = await scene.start({ argv: ['/bin/sh', '-c', 'exit 4'] });
    await run.exit();
    expect(scene.daemon.calls).toEqual([]);
    await scene.daemon.start();
    expect(scene.daemon.reports('exited')).toMatchObject([{ input: { code: 4, start: 1 } }]);
    expect(listKept(stateFiles(scene.stateDir).outbox)).toEqual([]);
  });

  it('a call that needs an answer is refused, and not kept', async () => {
    await using scene = new Scene();
    const run = await scene.start(WAITS);
    const answer = await run.post('/v1/task_claim', {});
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: 'daemon-away' } }]);
  });

  inLongLane(() => {
    it('a daemon that accepts calls and does not answer counts as away', async () => {
      await using scene = new Scene();
      await scene.daemon.start();
      const run = await scene.start(WAITS, { on_stop: 'escalate' });
      await until('it has started', () => scene.daemon.reports('started').length === 1);
      scene.daemon.isStuck = true;
      expect(await run.stop()).toBe(TEXTS.escalate);
      expect(await run.stop()).toBeNull();
      scene.daemon.isStuck = false;
      await until('the supervisor has reminded the daemon', () => scene.daemon.reports('stop').length === 1);
    });
  });
});

describe('the count of blocks', () => {
  it('is reset by every tool call', async () => {
    await using scene = new Scene();
    const run = await scene.start(WAITS, { on_stop: 'signal', attempts: 1 });
    expect(await run.stop()).toContain(TEXTS.signal);
    await run.post('/hook/post-tool-use', { tool_name: 'Bash' });
    expect(await run.stop()).toContain(TEXTS.signal);
    expect(await run.stop()).toBeNull();
  });

  it('is reset by a commit, even in a worktree and with packed references', async () => {
    await using scene = new Scene();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', '-C', scene.cwd, ...args], {
        encoding: 'utf8',
      });
    git('init', '--quiet', '--initial-branch=main');
    git('commit', '--quiet', '--allow-empty', '--message=first');
    git('worktree', 'add', '--quiet', '-b', 'task', 'tree');
    const cwd = join(scene.cwd, 'tree');
    const run = await scene.start({ ...WAITS, cwd }, { on_stop: 'signal', attempts: 1 });
    expect(await run.stop()).toContain(TEXTS.signal);
    expect(await run.stop()).toBeNull();
    execFileSync(
      'git',
      ['-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--allow-empty', '--message=x'],
      { cwd },
    );
    expect(await run.stop()).toContain(TEXTS.signal);
    git('pack-refs', '--all');
    expect(await run.stop()).toBeNull();
  });

  it('is reported with the exit if it is used up', async () => {
    await using scene = new Scene();
    const run = await scene.start({ argv: ['/bin/sh', '-c', 'read x; exit 0'] }, { on_stop: 'signal', attempts: 1 });
    await run.stop();
    expect(await run.stop()).toBeNull();
    await run.control({ kind: 'kill', reason: '' });
    expect(await run.exit()).toMatchObject({ blocks_used: true });
  });
});

describe('the standing that the daemon sends', () => {
  it('applies at once', async () => {
    await using scene = new Scene();
    const run = await scene.start(WAITS);
    const standing = { has_signalled: false, is_owned: true, is_parked: false, missing: ['a result'] };
    await run.control({ kind: 'standing', standing });
    expect(await run.stop()).toContain('Still missing: a result.');
    await run.control({ kind: 'standing', standing: { ...standing, is_parked: true } });
    expect(await run.stop()).toBeNull();
    await run.control({ kind: 'standing', standing });
    expect(await run.stop()).toContain(TEXTS.signal);
  });

  it('is requested if the agent may have signalled over MCP', async () => {
    let has_signalled = false;
    await using scene = new Scene({
      agent_standing: () => ({ ok: true, result: { has_signalled, is_owned: true, is_parked: false, missing: [] } }),
    });
    await scene.daemon.start();
    const run = await scene.start(WAITS);
    await until('it has asked', () => scene.daemon.of('agent_standing').length === 1);
    has_signalled = true;
    await (await run.post('/mcp', '{}')).text();
    expect(await run.stop()).toBeNull();
  });
});

describe('hooks other than Stop', () => {
  it('report prompts, waiting and errors', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start(WAITS);
    await run.post('/hook/notification', { notification_type: 'permission_prompt', message: 'May I?' });
    await run.post('/hook/notification', { notification_type: 'idle_prompt' });
    await run.post('/hook/stop-failure', { error: 'rate_limit', reset_at: '2030-01-01T00:00:00Z' });
    await run.post('/hook/stop-failure', { error: 'billing_error' });
    await run.post('/hook/stop-failure', { error: 'authentication_failed' });
    await run.post('/hook/stop-failure', { error: 'connection refused', error_details: '429 rate limit|1893456000' });
    await run.post('/hook/subagent-stop', {});
    const reports = scene.daemon
      .of('agent_report')
      .map(({ input }) => input)
      .filter(({ kind }) => kind !== 'started');
    expect(reports).toMatchObject([
      { kind: 'prompted', prompt: 'May I?' },
      { kind: 'idle', why: 'waiting' },
      { kind: 'errored', error: 'rate_limited', reset_at: '2030-01-01T00:00:00.000Z' },
      { kind: 'errored', error: 'out_of_credits', reset_at: null },
      { kind: 'errored', error: 'unauthorized' },
      { kind: 'errored', error: 'no_internet', reset_at: null },
    ]);
  });
});

describe('text about errors', () => {
  it('is not an error, whichever process wrote it', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const printed = [{ type: 'tool_result', tool_use_id: 't1', is_error: true, content: 'HTTP 429 rate_limit_error' }];
    const run = await scene.start(
      talks([
        SAYS('429 rate limit exceeded. Your credit balance is too low. 401 unauthorized|1893456000'),
        JSON.stringify({ type: 'user', message: { role: 'user', content: printed } }),
        JSON.stringify({ type: 'result', is_error: true, result: 'API Error: 429 rate_limit_error' }),
        JSON.stringify({ type: 'result', is_error: false, result: 'usage limit reached|1893456000' }),
      ]),
    );
    const kinds = (): unknown[] => scene.daemon.of('agent_report').map(({ input }) => input['kind']);
    await until('its turn is over', () => kinds().includes('idle'));
    expect(kinds()).not.toContain('errored');
    expect(await run.stop()).toContain(TEXTS.signal);
  });
});

describe('exit signals that an agent prints', () => {
  it('count when its turn ends, before the stop is decided, and only the last', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const blocked = EXIT.replace('"completed"', '"blocked"');
    const run = await scene.start(talks([SAYS(`Here: ${blocked}`), SAYS(`No, this:\n\`\`\`json\n${EXIT}\n\`\`\``)]));
    await run.running();
    await until('it has spoken', () => readFileSync(run.files.log, 'utf8').includes('No, this'));
    expect(scene.daemon.of('exit_signal')).toEqual([]);
    expect(await run.stop()).toBeNull();
    expect(scene.daemon.of('exit_signal')).toMatchObject([{ token: TOKEN, input: JSON.parse(EXIT) }]);
  });

  it("are found in the hook's last message, even before the pipe has it", async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start(talks([]));
    expect(await run.stop({ last_assistant_message: EXIT })).toBeNull();
    expect(await run.stop({ last_assistant_message: EXIT })).toBeNull();
    expect(scene.daemon.of('exit_signal')).toHaveLength(1);
  });

  it('do not count in the output of a tool or a subagent', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const tool = JSON.stringify({
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', content: EXIT }] },
    });
    const subagent = SAYS(EXIT).replace('{', '{"parent_tool_use_id":"toolu_1",');
    const run = await scene.start(talks([tool, subagent, SAYS('done')]));
    await run.running();
    await until('it has spoken', () => readFileSync(run.files.log, 'utf8').includes('done'));
    expect(await run.stop()).toContain(TEXTS.signal);
    expect(scene.daemon.of('exit_signal')).toEqual([]);
  });

  it('do not count if they are refused, and the agent gets the reason', async () => {
    const error = { code: 'x', message: 'cannot complete: missing result', hint: '' };
    await using scene = new Scene({ exit_signal: () => ({ ok: false, error }) });
    await scene.daemon.start();
    const run = await scene.start(talks([]));
    expect(await run.stop({ last_assistant_message: EXIT })).toContain('was refused: cannot complete: missing result');
    expect(await run.stop({ last_assistant_message: EXIT.replace('IMPL', 'Impl') })).toContain(
      'was refused: invalid JSON',
    );
  });

  it('count in plain output when the process exits, before the exit is reported', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ argv: ['/bin/sh', '-c', `echo 'all done'; echo '${EXIT}'`] });
    await run.exit();
    const order = scene.daemon.calls
      .map(({ operation, input }) => input['kind'] ?? operation)
      .filter((word) => word !== 'agent_standing');
    expect(order).toEqual(['started', 'exit_signal', 'exited']);
  });
});

describe('a client that takes messages', () => {
  it('may exit when its turn has ended and it may stop', async () => {
    await using scene = new Scene();
    const turn = `read -r message; printf '%s' "$message" > heard; until [ -e go ]; do sleep 0.02; done; echo '{"type":"result"}'`;
    const run = await scene.start(talks([], `${turn}; cat > /dev/null; exit 7`));
    await run.control({ kind: 'send', message_id: 'm', text: 'Say "hi"\nplease' });
    await run.call('agent_signal', { kind: 'complete' });
    expect(await run.stop()).toBeNull();
    writeFileSync(join(scene.cwd, 'go'), '');
    // The agent's standard input is closed, so it exits by itself.
    expect(await run.exit()).toMatchObject({ code: 7, blocks_used: false });
    const heard: unknown = JSON.parse(readFileSync(join(scene.cwd, 'heard'), 'utf8'));
    expect(heard).toEqual({ type: 'user', message: { role: 'user', content: 'Say "hi"\nplease' } });
  });

  it('is idle if its turn ends without a stop, and its conversation is known', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start(
      talks(['{"type":"system","subtype":"init","session_id":"abc"}', '{"type":"result"}']),
    );
    await until('it waits', () => scene.daemon.reports('idle').length === 1);
    expect(scene.daemon.reports('idle')[0]?.input).toMatchObject({ why: 'waiting' });
    expect(readFileSync(run.files.conversation, 'utf8')).toBe('abc');
  });
});

/** An agent that prints JSON lines, and then waits or runs the given script. */
function talks(lines: readonly string[], then = 'exec cat > /dev/null') {
  const said = lines.map((line) => `printf '%s\\n' '${line.replaceAll("'", String.raw`'\''`)}'`);
  return { argv: ['/bin/sh', '-c', [...said, then].join('\n')], output: 'stream-json', input: 'stream-json' } as const;
}

/** Sends a request with a chosen Host header, which `fetch` does not allow. */
async function rawStatus(run: Supervised, host: string): Promise<number> {
  const { port } = await run.running();
  const head = `POST /hook/none HTTP/1.1\\r\\nhost: ${host}\\r\\nauthorization: Bearer ${TOKEN}\\r\\nconnection: close\\r\\ncontent-length: 0\\r\\n\\r\\n`;
  const script = `const s=require('net').connect(${port},'127.0.0.1',()=>s.write("${head}"));s.pipe(process.stdout)`;
  return Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }).split(' ')[1]);
}
