import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallChannel } from '../../api/client/channel.ts';
import { openConnection } from '../../api/client/http.ts';
import { readProcessIdentity } from '../../api/processes.ts';
import type { Daemon } from '../lifecycle.ts';
import { ask, Scene, until } from '../running.cases.ts';
import { AccessTokens } from '../tokens.ts';
import { parseAddress, SignedPage } from './signed-page.cases.ts';

const run = promisify(execFile);

let scene: Scene;
let daemon: Daemon;
let repository: string;

beforeAll(async () => {
  scene = new Scene();
  repository = scene.makeRepository();
  daemon = await scene.runDaemon();
  mkdirSync(join(scene.stateDir, 'agents', 'thief'), { recursive: true });
});
afterAll(async () => {
  await daemon.stop();
  await scene.end();
});

/** Runs a shell inside an agent's session, which can read everything in the state folder. */
async function inSession(script: string): Promise<string> {
  const url = `http://127.0.0.1:${daemon.record.port}/v1`;
  const { stdout } = await run('/bin/sh', ['-c', script], {
    cwd: repository,
    env: {
      ...scene.env,
      BATON_AGENT_ID: 'thief',
      URL: url,
      SOCKET: daemon.record.socket,
      OPERATOR: `authorization: Bearer ${scene.token()}`,
      WORKER: `authorization: Bearer ${scene.token('worker')}`,
      PROJECT: `baton-project-path: ${repository}`,
    },
  });
  return stdout;
}

const log = (): string => readFileSync(join(scene.stateDir, 'daemon.log'), 'utf8');

const CREATE = `-H "$PROJECT" -d '{"task_id":"stolen","title":"x"}'`;

async function tasks(): Promise<unknown> {
  const headers = { authorization: `Bearer ${scene.token()}`, 'baton-project-path': repository };
  const where = { host: '127.0.0.1', port: daemon.record.port, method: 'POST', path: '/v1/task_list', headers };
  return (await ask(where, '{}')).answer;
}

describe('on loopback', () => {
  it('a process inside a session is not the operator, and not a worker, although it has the token', async () => {
    expect(await inSession(`curl -s $URL/task_create -H "$OPERATOR" ${CREATE}`)).toContain('"code":"below-session"');
    expect(await inSession(`curl -s $URL/task_list -H "$WORKER" -H "$PROJECT" -d '{}'`)).toContain('below-session');
    expect(await inSession(`env -i /usr/bin/env curl -s $URL/task_create -H "$OPERATOR" ${CREATE}`)).toContain(
      'a terminal outside the session',
    );
    expect(await inSession(`setsid -w env -i curl -s $URL/stop -H "$OPERATOR" -d '{}'`)).toContain('below-session');
    expect(await tasks()).toMatchObject({ ok: true, result: { total: 0 } });
  });

  it('a process that sends its request and exits at once has no effect', async () => {
    const body = '{"task_id":"stolen","title":"x"}';
    const sender = join(scene.folder, 'sends.cjs');
    writeFileSync(
      sender,
      `const { OPERATOR, PROJECT } = process.env;
       const head = ['POST /v1/task_create HTTP/1.1', 'host: localhost', OPERATOR, PROJECT, 'content-length: ${body.length}'];
       const socket = require('node:net').connect(${daemon.record.port}, '127.0.0.1', () =>
         socket.end(head.join('\\r\\n') + '\\r\\n\\r\\n' + '${body}', () => process.kill(process.pid, 'SIGKILL')));`,
    );
    const refusals = (): number => log().match(/"code":"(?:below-session|bad-pass|no-pass)"/g)?.length ?? 0;
    const before = refusals();
    await inSession(`for i in 1 2 3; do '${process.execPath}' ${sender} || true; done`);
    await until(() => refusals() === before + 3, 'all of them were refused');
    expect(await tasks()).toMatchObject({ ok: true, result: { total: 0 } });
  });

  it('a process inside a session acts for no page, although it has its code or its key', async () => {
    const { port } = daemon.record;
    const headers = { authorization: `Bearer ${scene.token()}` };
    const opened = await ask({ host: '127.0.0.1', port, method: 'POST', path: '/v1/page_open', headers }, '{}');
    const { url } = opened.answer.result as { url: string };
    const { code } = parseAddress(url);
    const body = JSON.stringify({ code, public_key: 'A'.repeat(43), signature: 'A'.repeat(86) });
    expect(await inSession(`curl -s $URL/page/key -d '${body}'`)).toContain('"code":"below-session"');
    // The attempt did not consume the code.
    const page = await SignedPage.open(url);
    expect(await inSession(`curl -s $URL/health -H 'authorization: Baton-Page ${page.keyId}'`)).toContain(
      'below-session',
    );
  });

  it('every other process may, with one check for all requests of a connection', async () => {
    expect(await tasks()).toMatchObject({ ok: true });
    const { stdout } = await run('curl', [
      '-s',
      ...[1, 2].flatMap(() => [
        `http://127.0.0.1:${daemon.record.port}/v1/health`,
        '-H',
        `authorization: Bearer ${scene.token()}`,
      ]),
    ]);
    expect(stdout.match(/"ok":true/g)).toHaveLength(2);
  });
});

describe('on the Unix socket', () => {
  const socket = (headers: Record<string, string>, body = '{}') =>
    ask({ socketPath: daemon.record.socket, method: 'POST', path: '/v1/task_list', headers: { ...headers } }, body);
  const operator = (): Record<string, string> => ({
    authorization: `Bearer ${scene.token()}`,
    'baton-project-path': repository,
  });

  it('an operator or a worker needs a pass, which is good once', async () => {
    expect(await socket(operator())).toMatchObject({ status: 403, answer: { error: { code: 'no-pass' } } });
    const worker = { ...operator(), authorization: `Bearer ${scene.token('worker')}` };
    expect(await socket(worker)).toMatchObject({ status: 403, answer: { error: { code: 'no-pass' } } });
    const pass = scene.pass();
    expect(await socket({ ...operator(), 'baton-pass': pass })).toMatchObject({ status: 200 });
    expect(await socket({ ...operator(), 'baton-pass': pass })).toMatchObject({
      answer: { error: { code: 'bad-pass' } },
    });
    const made = crypto.randomUUID();
    expect(await socket({ ...operator(), 'baton-pass': made })).toMatchObject({
      answer: { error: { code: 'bad-pass' } },
    });
    expect(readdirSync(join(scene.stateDir, 'passes'))).toEqual([]);
  });

  it('a pass that a process inside a session made for itself is refused', async () => {
    const name = crypto.randomUUID();
    const path = join(scene.stateDir, 'passes', name);
    const go = join(scene.folder, 'go');
    const said = inSession(
      `echo $$ > ${go}.draft; mv ${go}.draft ${go}; until test -e ${path}; do sleep 0.01; done; ` +
        `curl -s --unix-socket $SOCKET http://localhost/v1/task_create -H "$OPERATOR" -H "baton-pass: ${name}" ${CREATE}`,
    );
    await until(() => existsSync(go), 'the shell runs');
    const pid = Number(readFileSync(go, 'utf8'));
    writeFileSync(path, JSON.stringify({ pid, identity: readProcessIdentity(pid) }), { mode: 0o600 });
    expect(await said).toContain('"code":"below-session"');
    expect(await tasks()).toMatchObject({ result: { total: 0 } });
  });

  it('a session needs none, and does not get further on its connection with the operator’s token', async () => {
    const token = new AccessTokens(scene.stateDir).issueAgent({ project: 'p', id: 'thief' });
    const health = {
      socketPath: daemon.record.socket,
      path: '/v1/health',
      headers: { authorization: `Bearer ${token}` },
    };
    expect(await ask(health)).toMatchObject({ status: 200 });
    const connection = await openConnection({ path: daemon.record.socket });
    if (connection === undefined) throw new Error('no daemon');
    const opened = await CallChannel.open(connection, { authorization: `Bearer ${token}` }, 5000);
    if (!opened.ok) throw new Error('no channel');
    const call = { operation: 'task_list', key: 'k', token: scene.token(), projectPath: repository, body: '{}' };
    const received = await opened.channel.call(call, { timeoutMs: 5000 });
    expect(received.ok && received.body).toContain('"code":"no-pass"');
    opened.channel.close();
  });
});
