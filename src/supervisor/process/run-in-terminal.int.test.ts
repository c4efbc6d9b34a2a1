import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { readHeldMessages } from '../held-messages.ts';
import { Scene, SUPERVISOR_TOKEN, TOKEN, type Supervised } from '../scene.cases.ts';

const TERMINAL = { argv: ['/bin/sh', '-c', 'echo "$0"', '${BATON_URL}'], terminal: true, input: 'none' } as const;

/** The user at the other end of the terminal's connection. */
class Visitor implements Disposable {
  readonly #sent: ClientRequest;
  readonly #response: IncomingMessage;
  heard = '';

  private constructor(sent: ClientRequest, response: IncomingMessage) {
    this.#sent = sent;
    this.#response = response;
    response.setEncoding('utf8').on('data', (text: string) => {
      this.heard += text;
    });
    response.on('error', () => {});
  }

  static async come(run: Supervised, token = SUPERVISOR_TOKEN): Promise<Visitor> {
    const { port } = await run.running();
    const headers = { authorization: `Bearer ${token}` };
    const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/terminal', headers, agent: false });
    sent.on('error', () => {});
    sent.write(`${JSON.stringify({ by: 'ada', env: { TERM: 'vt100' } })}\n`);
    const [response] = (await once(sent, 'response')) as [IncomingMessage]; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return new Visitor(sent, response);
  }

  get status(): number | undefined {
    return this.#response.statusCode;
  }

  async launch(): Promise<{ argv: string[]; cwd: string; env: Record<string, string> }> {
    return JSON.parse(await until('it is told what to run', () => this.heard.includes('\n') && this.heard));
  }

  leave(code: number): void {
    this.#sent.end(`${JSON.stringify({ left: { code } })}\n`);
  }

  [Symbol.dispose](): void {
    this.#sent.destroy();
  }
}

describe('the supervisor of a process in a terminal', () => {
  it('waits for the user, sends them the command, and reports that they attached and detached', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start(TERMINAL);
    using ada = await Visitor.come(run);
    const { argv, cwd, env } = await ada.launch();
    const url = `http://127.0.0.1:${(await run.running()).port}`;
    expect(argv).toEqual(['/bin/sh', '-c', 'echo "$0"', url]);
    expect(cwd).toBe(scene.cwd);
    expect(env).toMatchObject({ TERM: 'vt100', BATON_AGENT_ID: scene.agentId, BATON_TOKEN: TOKEN, BATON_URL: url });
    expect(scene.daemon.reports('attached').map(({ input }) => input)).toMatchObject([{ start: 1, by: 'ada' }]);
    ada.leave(0);
    expect(await run.exit()).toMatchObject({ code: 0, signal: null });
    const kinds = scene.daemon.of('agent_report').map(({ input }) => input['kind']);
    expect(kinds).toEqual(['started', 'attached', 'detached', 'exited']);
    expect(scene.daemon.reports('detached').map(({ input }) => input)).toMatchObject([{ how: 'left', talked: false }]);
  });

  it("passes the user's own terminal variables, not those of the daemon, which a build server may have started", async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    Object.assign(scene.env, { CI: 'true', TMUX: '/tmp/other', KEY: 'kept' });
    using ada = await Visitor.come(await scene.start(TERMINAL));
    const { env } = await ada.launch();
    expect(env).toMatchObject({ TERM: 'vt100', KEY: 'kept' });
    expect(env).not.toHaveProperty('CI');
    expect(env).not.toHaveProperty('TMUX');
  });

  it('allows every stop, and does not answer hooks with a message', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ ...TERMINAL, output: 'stream-json' });
    using ada = await Visitor.come(run);
    await ada.launch();
    for (let n = 0; n < 3; n++) expect(await run.stop({ stop_hook_active: false, session_id: 'c1' })).toBeNull();
    await run.post('/hook/notification', { notification_type: 'permission_prompt', message: 'May I?' });
    await run.post('/hook/stop-failure', { error: 'rate_limited' });
    ada.leave(0);
    await run.exit();
    for (const kind of ['stop', 'idle', 'prompted', 'errored']) expect(scene.daemon.reports(kind)).toEqual([]);
    expect(scene.daemon.reports('detached').map(({ input }) => input)).toMatchObject([{ how: 'left', talked: true }]);
    const used = scene.daemon.reports('used').map(({ input }) => input);
    expect(used.at(-1)).toMatchObject({ conversation_id: 'c1', turns: 3 });
  });

  it('ends all processes that were started there when the connection breaks', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start(TERMINAL);
    const ada = await Visitor.come(run);
    const { env } = await ada.launch();
    spawn('/bin/sh', ['-c', 'setsid sleep 300 & exec sleep 300'], { env, stdio: 'ignore' });
    await until('both run', () => scene.alive().length === 2);
    ada[Symbol.dispose]();
    expect(await run.exit()).toMatchObject({ code: null, signal: 'SIGHUP' });
    expect(scene.alive()).toEqual([]);
    expect(scene.daemon.reports('detached').map(({ input }) => input)).toMatchObject([{ how: 'lost' }]);
  });

  it('drops held messages when they are delivered, and keeps them if no user attaches', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const files = scene.files();
    const held = [{ id: 'm1', text: 'Mind the gap.' }];
    const alone = await scene.start({ ...TERMINAL, held: ['m1'], arrival_ms: 50 });
    writeFileSync(files.held, JSON.stringify(held));
    await alone.exit();
    expect(readHeldMessages(files.held)).toEqual(held);
    const run = await scene.start({ ...TERMINAL, held: ['m1'], start: 2 });
    using ada = await Visitor.come(run);
    await ada.launch();
    ada.leave(0);
    await run.exit();
    expect(readHeldMessages(files.held)).toEqual([]);
  });

  it('accepts one user at a time, and none without its own token', async () => {
    await using scene = new Scene();
    const run = await scene.start(TERMINAL);
    using agent = await Visitor.come(run, TOKEN);
    expect(agent.status).toBe(401);
    using ada = await Visitor.come(run);
    await ada.launch();
    using bob = await Visitor.come(run);
    expect(bob.status).toBe(409);
    ada.leave(0);
    await run.exit();
  });

  it('does not wait forever', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ ...TERMINAL, arrival_ms: 50 });
    expect(await run.exit()).toMatchObject({ code: 0 });
    expect(scene.daemon.reports('detached').map(({ input }) => input)).toMatchObject([{ how: 'absent' }]);
  });

  it('can be ended before a user attaches', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start(TERMINAL);
    await run.running();
    expect(await run.control({ kind: 'kill', reason: 'enough' })).toEqual({ ok: true });
    await run.exit();
    expect(scene.daemon.reports('detached').map(({ input }) => input)).toMatchObject([{ how: 'ended' }]);
  });

  it('accepts nobody if the process is not in a terminal', async () => {
    await using scene = new Scene();
    const run = await scene.start({});
    using ada = await Visitor.come(run);
    expect(ada.status).toBeGreaterThanOrEqual(400);
    await run.control({ kind: 'kill', reason: 'enough' });
  });
});
