import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLedger } from '../../../test/processes/ledger.ts';
import { PAGE_HEADERS, PAGE_PATHS } from '../../api/page-access.ts';
import { stateFiles } from '../../api/state-folder.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import { ledgerPlace } from '../../ledger/writer/ledger-files.ts';
import type { Daemon } from '../lifecycle.ts';
import { ask, Scene, until } from '../running.cases.ts';
import { parseAddress, SignedPage } from './signed-page.cases.ts';
import { inLongLane } from '../../../test/lanes.ts';

let scene: Scene;
let daemon: Daemon;
let repository: string;
let page: SignedPage;

beforeAll(async () => {
  scene = new Scene();
  repository = scene.makeRepository();
  daemon = await scene.runDaemon();
  page = await SignedPage.open(await openAddress());
});
afterAll(async () => {
  await daemon.stop();
  await scene.end();
});

describe('a page that was opened with a code', () => {
  it('reads and writes for the operator, and every answer is signed', async () => {
    const created = await page.call('task_create', { task_id: 'A', title: 'x' }, { project: repository });
    expect(created).toMatchObject({ status: 200, answer: { ok: true }, isSigned: true });
    const seen = await page.call('task_get', { task_id: 'A' }, { project: repository });
    expect(seen).toMatchObject({ status: 200, isSigned: true });
    const missing = await page.call('task_get', { task_id: 'Z' }, { project: repository });
    expect(missing).toMatchObject({ status: 404, isSigned: true, answer: { error: { code: 'no-such-task' } } });
    expect(await page.get('/v1/health')).toMatchObject({ status: 200, isSigned: true });
  });

  it('is named in the ledger before its first entry there, and by each of its entries', async () => {
    const entries = await entriesOf(repository);
    const added = entries.findIndex(({ type }) => type === 'PageKeyAdded');
    const created = entries.findIndex(({ type }) => type === 'TaskCreated');
    expect(added).toBeLessThan(created);
    expect(entries[added]?.data).toEqual({
      key_id: page.keyId,
      name: 'page-1',
      public_key: page.publicKey,
      origin: page.origin,
    });
    expect(entries[added]?.actor).toMatch(/^operator:[^/]+$/);
    expect(entries[created]?.actor).toBe(`${entries[added]?.actor}/${page.keyId}`);
  });

  it('is named in another project before its first write there', async () => {
    const other = scene.makeRepository('other');
    await page.call('task_list', {}, { project: other });
    const sent = await page.call('task_create', { task_id: 'A', title: 'x' }, { project: other });
    expect(sent).toMatchObject({ status: 200 });
    const types = (await entriesOf(other)).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['PageKeyAdded', 'TaskCreated']);
  });

  it('has a file without a secret, for its user alone', () => {
    const { pageKeys } = stateFiles(scene.stateDir);
    expect(statSync(pageKeys).mode & 0o777).toBe(0o600);
    const { keys } = JSON.parse(readFileSync(pageKeys, 'utf8')) as { keys: object[] };
    expect(keys[0]).toMatchObject({ id: page.keyId, public_key: page.publicKey, origin: page.origin });
  });

  it('gets large answers compressed, with a signature over the uncompressed body', async () => {
    const gzips = { changed: { headers: { 'accept-encoding': 'gzip, br' } } };
    const [plain, packed] = [await page.get('/v1/openapi.json'), await page.get('/v1/openapi.json', gzips)];
    expect([plain.isSigned, packed.isSigned]).toEqual([true, true]);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(Number(packed.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 2);
    expect(packed.answer).toEqual(plain.answer);
    expect((await page.get('/v1/health', gzips)).headers['content-encoding']).toBeUndefined();
  });

  it('shares the idempotency keys of the operator', async () => {
    const input = { task_id: 'once', title: 'x' };
    const headers = {
      authorization: `Bearer ${scene.token()}`,
      'baton-project-path': repository,
      'idempotency-key': 'k-1',
    };
    const where = { host: '127.0.0.1', port: page.port, method: 'POST', path: '/v1/task_create', headers };
    const first = await ask(where, JSON.stringify(input));
    const again = await page.call('task_create', input, { project: repository, signs: { key: 'k-1' } });
    expect(again.answer).toEqual(first.answer);
    expect(again).toMatchObject({ status: 200, isSigned: true });
  });

  it('does not obtain a right that outlives its key', async () => {
    for (const [operation, input] of [['stop'], ['worker-token', { principal: 'eve' }], ['page_open']] as const)
      expect(await page.call(operation, input)).toMatchObject({ status: 403, isSigned: true });
    const claim = await page.call('task_claim', { task_id: 'A', as: 'eve' }, { project: repository });
    expect(claim).toMatchObject({ status: 403, isSigned: true, answer: { error: { code: 'forbidden' } } });
    const upgrade = { connection: 'upgrade', upgrade: 'baton-calls' };
    expect(await page.get('/v1/calls', { changed: { headers: upgrade } })).toMatchObject({ status: 400 });
  });
});

describe('a request in the name of a page', () => {
  const list = async (more: Parameters<SignedPage['call']>[2] = {}) =>
    page.call('task_list', {}, { project: repository, ...more });
  const changed = async (headers: Record<string, string>) => list({ changed: { headers } });

  it('is refused with another body, path, project, key or time than was signed', async () => {
    const refused = [
      await list({ changed: { body: '{"limit":1}' } }),
      await list({ changed: { path: '/v1/task_next_actions' } }),
      await changed({ 'baton-project-path': `${repository}/.` }),
      await changed({ 'idempotency-key': 'another' }),
      await changed({ [PAGE_HEADERS.after]: '{}' }),
      await changed({ [PAGE_HEADERS.time]: String(Date.now() + 5) }),
      await changed({ [PAGE_HEADERS.nonce]: 'x'.repeat(22) }),
      await changed({ [PAGE_HEADERS.signature]: '' }),
      await list({ signs: { nonce: 'short' } }),
      await list({ signs: { method: 'GET' } }),
    ];
    for (const { status, answer, isSigned } of refused)
      expect([status, answer.error?.code, isSigned !== undefined]).toEqual([403, 'bad-signature', true]);
  });

  it('is refused if it was signed for another start of the daemon', async () => {
    expect(await list({ signs: { instance: 'A'.repeat(22) } })).toMatchObject({
      status: 403,
      answer: { error: { code: 'bad-signature' } },
      isSigned: true,
    });
  });

  it('is refused a second time, and when it is too old or too new', async () => {
    const nonce = 'n'.repeat(22);
    expect(await list({ signs: { nonce } })).toMatchObject({ status: 200 });
    expect(await list({ signs: { nonce } })).toMatchObject({ answer: { error: { code: 'replayed-request' } } });
    // The limit is one minute. A busy machine may take seconds to send the request with the later time.
    for (const offMs of [-61_000, 120_000])
      expect(await list({ signs: { time: String(Date.now() + offMs) } })).toMatchObject({
        status: 403,
        answer: { error: { code: 'stale-request' } },
        isSigned: true,
      });
  });

  it('is refused from another origin and under another name, without a signature', async () => {
    const { port } = daemon.record;
    const origins = ['https://evil.example', 'null', `http://127.0.0.1:${port + 1}`, `http://localhost:${port}`];
    for (const origin of origins)
      expect(await changed({ origin })).toMatchObject({
        status: 403,
        isSigned: undefined,
        answer: { error: { code: 'bad-origin' } },
      });
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      `localhost:${port}`,
      '127.0.0.1',
      `127.0.0.1:${port + 1}`,
    ])
      expect(await changed({ host })).toMatchObject({
        status: 403,
        isSigned: undefined,
        answer: { error: { code: 'bad-host' } },
      });
  });

  it('is refused with an unknown key', async () => {
    const headers = { authorization: 'Baton-Page page-9-00000000' };
    expect(await changed(headers)).toMatchObject({ status: 401, answer: { error: { code: 'bad-page-key' } } });
  });

  it('is refused on the Unix socket', async () => {
    const { socket } = daemon.record;
    const headers = { authorization: `Baton-Page ${page.keyId}`, host: `127.0.0.1:${page.port}` };
    expect(await ask({ socketPath: socket, path: '/v1/health', headers })).toMatchObject({ status: 403 });
    const greeting = { socketPath: socket, method: 'POST', path: PAGE_PATHS.greeting };
    expect(await ask(greeting, '{"challenge":"aaaaaaaaaaaaaaaaaaaaaa"}')).toMatchObject({ status: 401 });
  });
});

describe('the greeting', () => {
  it('is signed by the daemon for its own origin', async () => {
    expect(await page.greet()).toBe(true);
  });

  it('is given to no other origin, and under no other name', async () => {
    const asked = async (headers: Record<string, string>) =>
      ask(
        { host: '127.0.0.1', port: page.port, method: 'POST', path: PAGE_PATHS.greeting, headers },
        JSON.stringify({ challenge: 'c'.repeat(22) }),
      );
    expect(await asked({ origin: 'https://evil.example' })).toMatchObject({ status: 403 });
    expect(await asked({ host: `localhost:${page.port}` })).toMatchObject({ status: 403 });
    expect(await asked({ host: 'evil.example' })).toMatchObject({ status: 403 });
    expect(await asked({})).toMatchObject({ status: 200 });
  });

  it('detects another server on the port, even if that forwards what the daemon signs', async () => {
    const foreign = createServer((request, response) => {
      void request.toArray().then(async (pieces) => {
        const headers = { 'content-type': 'application/json' };
        const passed = { host: '127.0.0.1', port: daemon.record.port, method: 'POST', path: request.url, headers };
        const { status = 0, answer } = await ask(passed, Buffer.concat(pieces));
        response.writeHead(status).end(JSON.stringify(answer));
      });
    });
    await once(foreign.listen(0, '127.0.0.1'), 'listening');
    const { port } = foreign.address() as AddressInfo;
    const { daemon: key } = parseAddress(await openAddress());
    const deceived = new SignedPage(port, key);
    expect(await deceived.greet()).toBe(false);
    foreign.close();
  });

  it('needs a challenge', async () => {
    const where = { host: '127.0.0.1', port: page.port, method: 'POST', path: PAGE_PATHS.greeting };
    for (const body of ['', '{}', '{"challenge":"short"}', '{"challenge":7}', '[]'])
      expect(await ask(where, body)).toMatchObject({ status: 400, answer: { error: { code: 'bad-request' } } });
  });
});

describe('the address of the page', () => {
  it.each(['localhost', 'LOCALHOST', '[::1]'])('is a redirect from %s to the only origin of the page', async (name) => {
    const { port } = page;
    const headers = { host: `${name}:${port}` };
    const sent = get({ host: '127.0.0.1', port, path: '/tasks?x=1', headers });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect([response.statusCode, response.headers.location]).toEqual([308, `http://127.0.0.1:${port}/tasks?x=1`]);
  });

  it('answers every request for a service worker with one that removes itself', async () => {
    const headers = { 'service-worker': 'script' };
    const sent = get({ host: '127.0.0.1', port: page.port, path: '/any/worker.js', headers });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.headers['content-type']).toBe('text/javascript');
    expect((await response.toArray()).join('')).toContain('registration.unregister()');
  });

  it('is no redirect for the API', async () => {
    const { port } = page;
    const headers = { host: `localhost:${port}`, authorization: `Bearer ${scene.token()}` };
    expect(await ask({ host: '127.0.0.1', port, path: '/v1/health', headers })).toMatchObject({ status: 200 });
  });
});

describe('a code', () => {
  it('gives one key, once', async () => {
    const { code } = parseAddress(await openAddress());
    expect(await page.requestKey(code)).toMatchObject({ status: 200, answer: { result: { name: 'page-2' } } });
    expect(await page.requestKey(code)).toMatchObject({ status: 403, answer: { error: { code: 'bad-page-code' } } });
  });

  it('is consumed by a request that is otherwise wrong, and refused like a wrong one', async () => {
    const { code } = parseAddress(await openAddress());
    const stolen = await page.requestKey(code, { public_key: 'A'.repeat(43) });
    expect(stolen).toMatchObject({ status: 403, answer: { error: { code: 'bad-signature' } } });
    const [used, wrong] = [await page.requestKey(code), await page.requestKey('wrong')];
    expect(used.answer).toEqual(wrong.answer);
  });

  it('is not taken from another origin', async () => {
    const { code } = parseAddress(await openAddress());
    const heard = await page.requestKey(code, {}, { origin: 'http://127.0.0.1:1' });
    expect(heard).toMatchObject({ status: 403, answer: { error: { code: 'bad-origin' } } });
  });

  it('is for operators only', async () => {
    const headers = { authorization: `Bearer ${scene.token('worker')}`, 'baton-project-path': repository };
    const asked = { host: '127.0.0.1', port: page.port, method: 'POST', path: '/v1/page_open', headers };
    expect(await ask(asked, '{}')).toMatchObject({ status: 403 });
  });
});

describe('a revoked key', () => {
  it('ends its event streams at once, is refused, and is recorded where it was named', async () => {
    const lost = await SignedPage.open(await openAddress());
    const stream = await lost.send(PAGE_PATHS.events);
    const ended = stream.toArray();
    const revoked = await page.call('page_key_revoke', { name: lost.keyId });
    expect(revoked.answer.result).toMatchObject({ revoked: [{ key_id: lost.keyId }] });
    await ended;
    expect(await lost.call('page_keys')).toMatchObject({ status: 401, answer: { error: { code: 'bad-page-key' } } });
    const { keys } = (await page.call('page_keys')).answer.result as { keys: { key_id: string }[] };
    expect(keys.map(({ key_id }) => key_id)).not.toContain(lost.keyId);
    const entries = await entriesOf(repository);
    expect(entries.find(({ type }) => type === 'PageKeyRevoked')).toMatchObject({
      data: { key_id: lost.keyId, reason: `revoked by ${page.keyId}` },
    });
  });
});

inLongLane(() => {
  describe('a daemon that finds its port taken', () => {
    it("takes another one permanently, revokes the old one's keys, and reports the process that has it", async () => {
      const { port } = daemon.record;
      await daemon.stop();
      const thief = createTcpServer().listen(port, '127.0.0.1');
      await once(thief, 'listening');
      daemon = await scene.runDaemon();
      expect(daemon.record.port).not.toBe(port);
      const moved = new SignedPage(daemon.record.port, parseAddress(await openAddress()).daemon);
      moved.keyId = page.keyId;
      await moved.greet();
      expect(await moved.call('page_keys')).toMatchObject({ status: 401, answer: { error: { code: 'bad-page-key' } } });
      expect(await askAsOperator('page_open')).toMatchObject({
        port_moved: {
          from: port,
          to: daemon.record.port,
          taken_by: expect.stringContaining(`process ${process.pid}: `),
        },
      });
      await until(
        async () => (await entriesOf(repository)).some(({ data }) => data['key_id'] === page.keyId && 'reason' in data),
        'the key is recorded as revoked',
      );
      thief.close();
      // The move is reported until a page is opened at the new port.
      await SignedPage.open(await openAddress());
      expect(await askAsOperator('page_open')).toMatchObject({ port_moved: null });
      const { port: kept } = daemon.record;
      await daemon.stop();
      daemon = await scene.runDaemon();
      expect(daemon.record.port).toBe(kept);
    });
  });
});

async function entriesOf(path: string): Promise<Entry[]> {
  const { projects } = (await askAsOperator('projects_list')) as { projects: { id: string; path: string }[] };
  const project = projects.find((each) => each.path === path)?.id ?? '';
  return readLedger({ project, ledgerFile: ledgerPlace(scene.stateDir, project).ledger });
}

async function openAddress(): Promise<string> {
  return ((await askAsOperator('page_open')) as { url: string }).url;
}

async function askAsOperator(operation: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${scene.token()}`, 'baton-project-path': encodeURI(repository) };
  const { port } = daemon.record;
  return (await ask({ host: '127.0.0.1', port, method: 'POST', path: `/v1/${operation}`, headers }, '{}')).answer
    .result;
}
