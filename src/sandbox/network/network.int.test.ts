import { mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { listLiving } from '../../api/processes.ts';
import { probeNetwork } from './namespace/probe-network.ts';
import { opened, runInside, serverSaying } from './network.cases.ts';
import type { NetworkRequest, OpenNetwork } from './network-request.ts';
import { closeHttp } from './serve.ts';

const { namespaces } = await probeNetwork(process.env);
const skipped = namespaces === null ? '' : ` (NOT RUN: ${namespaces})`;

const servers: Server[] = [];
const networks: OpenNetwork[] = [];

afterEach(async () => {
  servers.splice(0).forEach(closeHttp);
  await Promise.all(networks.splice(0).map(async (network) => network.close()));
});

describe.skipIf(namespaces !== null)(`a network of its own${skipped}`, () => {
  it('reaches its supervisor and nothing else', async () => {
    const { server, port } = await serverSaying('the daemon');
    const asked: string[] = [];
    const onRequest: NetworkRequest['onRequest'] = ({ url = '' }, response) => {
      asked.push(url);
      response.end('the supervisor');
    };
    const network = await opened({}, { onRequest });
    servers.push(server);
    networks.push(network);
    const script = `Promise.all([get(process.env.BATON_URL + '/hook/stop'), get('http://127.0.0.1:${port}/')])
      .then(([own, daemon]) => print({ own, daemon, devices: Object.keys(os.networkInterfaces()) }))`;
    expect(await runInside(network, script)).toEqual({
      own: 'the supervisor',
      daemon: 'ECONNREFUSED',
      devices: ['lo'],
    });
    expect(asked).toEqual(['/hook/stop']);
    expect(network).toMatchObject({ summary: 'none', notes: [], env: {}, unsharesNet: false });
  });

  it('is left to the sandbox if nothing is served inside', async () => {
    const network = await opened({});
    expect(network).toMatchObject({ url: null, enter: [], unsharesNet: true, namespaces: null });
  });

  it('reaches listed hosts through the proxy, and uses a secret that it cannot read', async () => {
    const origin = await serverSaying('origin');
    const api = await serverSaying('unused');
    api.server.removeAllListeners('request');
    api.server.on('request', (request, response) =>
      response.end(request.headers['x-api-key'] === 'sk-real' ? 'paid' : 'no'),
    );
    servers.push(origin.server, api.server);
    const inject = {
      secret: 'KEY',
      api: 'anthropic' as const,
      paths: ['GET /v1'],
      upstream: `http://127.0.0.1:${api.port}`,
      header: 'x-api-key',
      prefix: '',
      env: { API_BASE_URL: '${URL}', KEY: 'placeholder' },
    };
    const spec = { policy: 'proxy', hosts: [`127.0.0.1:${origin.port}`], inject: [inject] } as const;
    const network = await opened(spec, { secrets: { KEY: 'sk-real' } });
    networks.push(network);
    const script = `Promise.all([
        tunnel(process.env.HTTPS_PROXY, '127.0.0.1:${origin.port}'), tunnel(process.env.HTTPS_PROXY, '127.0.0.1:${api.port}'),
        tunnel(process.env.HTTPS_PROXY, 'evil.example:443'), get('http://127.0.0.1:${origin.port}/'), get('http://127.0.0.1:${api.port}/'), get(process.env.API_BASE_URL + '/v1'),
      ]).then(([listed, hidden, evil, direct, closed, paid]) => {
        const seen = [JSON.stringify(process.env), ...fs.readdirSync('/proc').filter((name) => name > '0' && name < 'a')
          .flatMap((pid) => ['environ', 'cmdline'].map((file) => fs.readFileSync('/proc/' + pid + '/' + file, 'utf8')))];
        print({ listed, hidden, evil, direct, closed, paid, knows: seen.some((text) => text.includes(['sk', 'real'].join('-'))) });
      })`;
    expect(await runInside(network, script)).toEqual({
      listed: 'HTTP/1.1 200 Connection Established',
      hidden: "HTTP/1.1 403 Refused by Baton's network policy",
      evil: "HTTP/1.1 403 Refused by Baton's network policy",
      direct: 'origin',
      closed: 'ECONNREFUSED',
      paid: 'paid',
      knows: false,
    });
    expect(network.lines).toHaveLength(2);
    expect(network.counts()).toContainEqual({ host: `127.0.0.1:${api.port}`, allowed: 1, refused: 1 });
  });

  it("forwards named ports of the host into the session, but not Baton's", async () => {
    const database = await serverSaying('database');
    const daemon = await serverSaying('the daemon');
    servers.push(database.server, daemon.server);
    const local = [database.port, daemon.port];
    const network = await opened({ local }, { forbiddenPorts: [daemon.port] });
    networks.push(network);
    const urls = JSON.stringify(local.map((port) => `http://127.0.0.1:${port}/`));
    expect(await runInside(network, `Promise.all(${urls}.map(get)).then(print)`)).toEqual(['database', 'ECONNREFUSED']);
    expect(network.notes).toEqual([expect.stringContaining(`Port ${daemon.port} is not forwarded`)]);
  });

  it('publishes the port of the session on the host, with a relay that ends with it', async () => {
    const free = await serverSaying('');
    closeHttp(free.server);
    const { port } = free;
    const network = await opened({ port });
    networks.push(network);
    const serving = runInside(
      network,
      `const server = http.createServer((q, s) => { s.end('from inside ' + q.url); if (q.url === '/3') { print('done'); server.close(); } }).listen(${port}, '127.0.0.1')`,
    );
    const fetched = async (path: string): Promise<string> => {
      const deadline = Date.now() + 20_000;
      for (;;) {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } }).catch(
          () => undefined,
        );
        if (answer !== undefined) return answer.text();
        if (Date.now() > deadline) throw new Error('the port was not published');
      }
    };
    expect(await fetched('/1')).toBe('from inside /1');
    expect(await Promise.all([fetched('/2'), fetched('/2')])).toEqual(['from inside /2', 'from inside /2']);
    expect(await fetched('/3')).toBe('from inside /3');
    expect(await serving).toBe('done');
  });

  it('reports that the port of the session is taken', async () => {
    const { server, port } = await serverSaying('someone else');
    servers.push(server);
    const network = await opened({ port });
    networks.push(network);
    expect(network.notes).toEqual([expect.stringMatching(/do not reach the session: another program listens there/)]);
  });

  it('leaves no process and no descriptor behind', async () => {
    const children = (): number => listLiving().filter(({ parent }) => parent === process.pid).length;
    const before = children();
    const network = await opened({ local: [9] }, { onRequest: (_, response) => void response.end() });
    expect(openNamespaces()).toBe(2);
    await network.close();
    expect(openNamespaces()).toBe(0);
    await expect.poll(children).toBe(before);
  });

  it("uses the host's network for `full` without an uplink, gives the reason, and still injects secrets", async () => {
    const api = await serverSaying('paid');
    servers.push(api.server);
    const folder = mkdtempSync(join(tmpdir(), 'tools-'));
    for (const name of ['bwrap', 'nsenter', 'sh']) symlinkSync(`/usr/bin/${name}`, join(folder, name));
    const upstream = `http://127.0.0.1:${api.port}`;
    const own = { secret: 'KEY', api: 'anthropic', paths: ['GET /v1'], upstream } as const;
    const inject = [{ ...own, header: 'x-api-key', prefix: '', env: { API_BASE_URL: '${URL}' } }];
    const network = await opened({ policy: 'full', inject }, { secrets: { KEY: 'sk-real' }, env: { PATH: folder } });
    networks.push(network);
    expect(network).toMatchObject({ summary: 'host', url: null, enter: [], unsharesNet: false });
    expect(network.notes).toEqual([expect.stringMatching(/uses the host's network: neither slirp4netns nor pasta/)]);
    expect(await (await fetch(`${network.env['API_BASE_URL']}/v1`)).text()).toBe('paid');
    expect((await fetch(`${new URL(network.env['API_BASE_URL'] ?? '').origin}/v1`)).status).toBe(404);
    rmSync(folder, { recursive: true });
  });

  it('refuses a policy that cannot be enforced', async () => {
    const env = { PATH: '/nonexistent' };
    await expect(opened({ policy: 'proxy' }, { env })).rejects.toThrow('bwrap is not installed');
  });
});

function openNamespaces(): number {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => /^(?:net|user):\[/.test(link)).length;
}
