import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stateFiles } from '../../api/state-folder.ts';
import { parsePrometheus } from '../../telemetry/prometheus-text.cases.ts';
import type { Daemon } from '../lifecycle.ts';
import { ask, Scene } from '../running.cases.ts';

let scene: Scene;
let daemon: Daemon;
let repository: string;
let token: string;

beforeAll(async () => {
  scene = new Scene();
  repository = scene.makeRepository();
  daemon = await scene.runDaemon();
  token = readFileSync(stateFiles(scene.stateDir).metricsToken, 'utf8').trim();
  mkdirSync(join(scene.stateDir, 'agents', 'thief'), { recursive: true });
});
afterAll(async () => {
  await daemon.stop();
  await scene.end();
});

function where(bearer: string, headers: Record<string, string> = {}): RequestOptions {
  const authorization = bearer === '' ? {} : { authorization: `Bearer ${bearer}` };
  return { host: '127.0.0.1', port: daemon.record.port, path: '/metrics', headers: { ...authorization, ...headers } };
}

async function read(bearer: string, headers: Record<string, string> = {}): Promise<{ type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent: false, ...where(bearer, headers) }, (response) => {
      void response
        .toArray()
        .then((chunks) => resolve({ type: String(response.headers['content-type']), text: chunks.join('') }));
    });
    sent.on('error', reject).end();
  });
}

async function call(operation: string, input: unknown, bearer = scene.token()): Promise<Record<string, string>> {
  const path = { path: `/v1/${operation}`, method: 'POST' };
  const { answer } = await ask(
    { ...where(bearer, { 'baton-project-path': repository }), ...path },
    JSON.stringify(input),
  );
  return answer.result as Record<string, string>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

describe('/metrics', () => {
  it('counts what happened since the daemon started', async () => {
    await call('task_create', { task_id: 'A', title: 'secret title' });
    await call('task_claim', { task_id: 'A', as: 'ada', role: 'writer' }, scene.token('worker'));
    const { type, text } = await read(token);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    const claims = [...parsePrometheus(text)].filter(([name]) => name.startsWith('baton_claims_total'));
    expect(claims).toEqual([[expect.stringMatching(/^baton_claims_total\{project="[\w.-]+",role="writer"\}$/), 1]]);
    expect(text).not.toMatch(/secret title|ada/);
  });

  it('answers the operator, under each name of this machine', async () => {
    for (const host of ['localhost', `localhost:${daemon.record.port}`, '127.0.0.1'])
      expect((await read(scene.token(), { host })).text).toContain('baton_build_info{version="');
  });

  it('refuses other callers', async () => {
    const claimed = await call('task_create', { task_id: 'B', title: 'x' }).then(async () =>
      call('task_claim', { task_id: 'B', as: 'eve' }, scene.token('worker')),
    );
    const codes = [
      await ask(where('')),
      await ask(where(`${token.slice(0, -1)}_`)),
      await ask(where(scene.token('worker'))),
      await ask(where(claimed['token'] ?? '')),
      await ask(where(token, { host: 'evil.example' })),
      await ask(where(token, { origin: 'https://evil.example' })),
      await ask({ ...where(token), method: 'POST' }),
    ].map(({ status, answer }) => `${status} ${answer.error?.code}`);
    expect(codes).toEqual([
      '401 no-token',
      '401 bad-token',
      '403 forbidden',
      '403 forbidden',
      '403 bad-host',
      '403 bad-origin',
      '405 bad-method',
    ]);
  });

  it('is the only path that its token opens', async () => {
    for (const path of ['/v1/health', '/v1/openapi.json', '/v1/events', '/mcp'])
      expect(await ask({ ...where(token), path })).toMatchObject({
        status: 401,
        answer: { error: { code: 'bad-token' } },
      });
  });

  it('is closed to processes inside a session, although they have the token', async () => {
    const env = { ...scene.env, BATON_AGENT_ID: 'thief', TOKEN: `authorization: Bearer ${token}` };
    const script = `curl -s http://127.0.0.1:${daemon.record.port}/metrics -H "$TOKEN"; :`;
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script], { env });
    expect(stdout).toContain('below-session');
  });
});
