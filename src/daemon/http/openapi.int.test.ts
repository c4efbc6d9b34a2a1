import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemaAccepts } from '../../../test/fuzz/schema-accepts.ts';
import { DOCUMENT, requireDocumented, resolve, withoutReferences } from '../../api/openapi/read-document.cases.ts';
import { fieldOf, fieldsOf } from '../../protocol/shape/read-unknown.ts';
import type { Daemon } from '../lifecycle.ts';
import { ask, type Heard, Scene } from '../running.cases.ts';

/** Tests that a daemon answers as its OpenAPI document describes. `requireResult` checks the results of operations. */
let scene: Scene;
let daemon: Daemon;
let repository: string;

beforeAll(async () => {
  scene = new Scene();
  repository = scene.makeRepository();
  daemon = await scene.runDaemon();
});
afterAll(async () => {
  await daemon.stop();
  await scene.end();
});

function where(path: string, method: string, headers: Record<string, string> = {}) {
  const known = { authorization: `Bearer ${scene.token()}`, 'baton-project-path': repository };
  return { host: '127.0.0.1', port: daemon.record.port, path, method, headers: { ...known, ...headers } };
}

async function send(path: string, method: string, body?: unknown): Promise<Heard> {
  return ask(where(path, method), body === undefined ? undefined : JSON.stringify(body));
}

/** Returns the status and content type of a response, without waiting for the body of a stream. */
async function readHead(path: string, method: string): Promise<string> {
  return new Promise((settle, reject) => {
    const sent = request({ agent: false, ...where(path, method) }, (response) => {
      response.destroy();
      settle(`${response.statusCode} ${String(response.headers['content-type']).replace(/;.*/, '')}`);
    });
    sent.on('error', reject).end();
  });
}

const refused = fieldsOf(withoutReferences(resolve('#/components/schemas/Error')));

describe('the OpenAPI document', () => {
  it('is served by the daemon', async () => {
    expect((await send('/v1/openapi.json', 'GET')).answer).toEqual(DOCUMENT);
  });

  it.each([
    ['/v1/health', 'get', undefined],
    ['/v1/deliver', 'post', undefined],
    ['/v1/worker-token', 'post', { principal: 'ada' }],
    ['/v1/task_create', 'post', { task_id: 'A', title: 'x' }],
    ['/v1/task_list', 'post', {}],
    ['/v1/status_get', 'post', {}],
    ['/v1/projects_list', 'post', {}],
  ] as const)('describes the answer of %s', async (path, method, body) => {
    const { answer } = await send(path, method.toUpperCase(), body);
    expect(() => requireDocumented(path, method, answer)).not.toThrow();
  });

  it.each([
    ['/v1/task_create', { title: 'x' }, 'bad-request'],
    ['/v1/task_get', { task_id: 'missing' }, 'no-such-task'],
    ['/v1/run_start', { name: 'none' }, undefined],
    ['/v1/nothing', {}, 'no-such-operation'],
  ])('describes the error of %s', async (path, body, code) => {
    const { error } = (await send(path, 'POST', body)).answer;
    expect(error).toMatchObject(code === undefined ? {} : { code });
    expect(schemaAccepts(refused, error)).toBe(true);
  });

  it('has the right type of each response that is not JSON', async () => {
    const others = Object.entries(fieldsOf(DOCUMENT['paths'])).flatMap(([path, item]) =>
      Object.entries(fieldsOf(item)).flatMap(([method, operation]) => {
        const content = fieldOf(fieldOf(fieldOf(operation, 'responses'), '200'), 'content');
        return Object.keys(fieldsOf(content))
          .filter((type) => type !== 'application/json')
          .map((type) => ({ path, method, type }));
      }),
    );
    expect(others.map(({ path }) => path)).toEqual(['/v1/events', '/metrics']);
    for (const { path, method, type } of others) expect(await readHead(path, method.toUpperCase())).toBe(`200 ${type}`);
  });

  it('describes the answer to a stop', async () => {
    const other = new Scene();
    const stopped = await other.runDaemon();
    const headers = { authorization: `Bearer ${other.token()}` };
    const { answer } = await ask({ ...where('/v1/stop', 'POST', headers), port: stopped.record.port });
    expect(() => requireDocumented('/v1/stop', 'post', answer)).not.toThrow();
    await other.end();
  });
});
