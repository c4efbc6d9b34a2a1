import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Contender, Venue } from './contender.ts';
import { importPeer, missingPeers, PEERS_FOLDER } from './peers.ts';

/**
 * One service per seat, served by that seat's process over HTTP/2; the handler sends to the other service and returns.
 */
export const restate: Contender = {
  key: 'restate',
  name: 'Restate 1.7.12',
  findMissing: () => missingPeers('@restatedev/restate-server', '@restatedev/restate-sdk'),
  open: openRestate,
  // Restate pushes jobs, so none can be sent before a service is registered.
  fill: async () => {},
  async join(seat) {
    const { service, serve } = await importPeer<Restate>('@restatedev/restate-sdk');
    const work = async (context: Context, n: number): Promise<void> => {
      await seat.work(n);
      if (seat.handOn(n)) context.serviceSendClient({ name: seat.theirs }).work(n + 1);
    };
    const port = await freePort();
    await serve({ services: [service({ name: seat.mine, handlers: { work } })], port });
    const { admin, ingress } = parseAddress(seat.address);
    await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${port}` });
    // Seat b joins before seat a.
    if (seat.mine === 'a') {
      await waitFor(async () => (await fetch(`${admin}/services/b`)).ok);
      await Promise.all(Array.from({ length: seat.batons }, async () => post(`${ingress}/a/work/send`, 0)));
    }
    return async () => {};
  },
};

const START_MS = 30_000;

async function openRestate(): Promise<Venue> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-restate-'));
  const [admin, ingress, node] = [await freePort(), await freePort(), await freePort()];
  const program = join(
    PEERS_FOLDER,
    'node_modules/@restatedev',
    `restate-server-linux-${process.arch}`,
    'bin/restate-server',
  );
  const server = spawn(
    program,
    ['--no-logo', '--base-dir', folder, '--node-name', 'bench', '--bind-port', String(node)],
    {
      stdio: 'ignore',
      cwd: folder,
      env: {
        ...process.env,
        RESTATE_ADMIN__BIND_PORT: String(admin),
        RESTATE_INGRESS__BIND_PORT: String(ingress),
        RESTATE_BIND_IP: '127.0.0.1',
        RESTATE_LISTEN_MODE: 'tcp',
        RESTATE_LOG_FILTER: 'error',
        RESTATE_DISABLE_TELEMETRY: 'true',
        DO_NOT_TRACK: '1',
      },
    },
  );
  const address = { admin: `http://127.0.0.1:${admin}`, ingress: `http://127.0.0.1:${ingress}` };
  const isUp = async (): Promise<boolean> => {
    if (server.exitCode !== null) throw new Error('restate-server did not start');
    return (await fetch(`${address.admin}/health`)).ok && (await fetch(`${address.ingress}/restate/health`)).ok;
  };
  await waitFor(isUp);
  return {
    address: JSON.stringify(address),
    async close() {
      server.kill('SIGKILL');
      await once(server, 'exit');
      rmSync(folder, { recursive: true });
    },
  };
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > deadline) throw new Error('Restate is not ready');
    await delay(50);
  }
}

async function post(url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // oxlint-disable-line typescript/no-unsafe-type-assertion
  server.close();
  await once(server, 'close');
  return port;
}

function parseAddress(text: string): { admin: string; ingress: string } {
  return JSON.parse(text) as { admin: string; ingress: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

interface Context {
  serviceSendClient(service: { name: string }): { work(n: number): void };
}

/** The part of the module that is used here. */
interface Restate {
  service: (definition: { name: string; handlers: object }) => unknown;
  serve: (options: { services: readonly unknown[]; port: number }) => Promise<unknown>;
}
