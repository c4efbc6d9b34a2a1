import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import type { NetworkSpec } from '../../protocol/sandbox.ts';
import type { NetworkRequest, OpenNetwork } from './network-request.ts';
import { openNetwork } from './open-network.ts';
import { serveAt } from './serve.ts';

export const HELPER = join(import.meta.dirname, 'namespace/helper/main.ts');

const NOTHING: NetworkSpec = { policy: 'none', hosts: [], local: [], port: null, inject: [] };

/** Opens a network, or throws with the reason. */
export async function opened(
  spec: Partial<NetworkSpec>,
  request: Partial<NetworkRequest> = {},
): Promise<OpenNetwork & { readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const result = await openNetwork({
    secrets: {},
    helper: HELPER,
    forbiddenPorts: [],
    env: { PATH: process.env['PATH'] },
    onNote: (line) => lines.push(line),
    meter: { admit: async () => ({ ok: true, settle: () => {} }) },
    ...request,
    spec: { ...NOTHING, ...spec },
  });
  if (!result.ok) throw new Error(result.reason);
  return { ...result.network, lines };
}

/** Runs a Node script in the session's network, in the same sandbox as an agent. */
export async function runInside(network: OpenNetwork, script: string): Promise<unknown> {
  const sandbox = 'bwrap --unshare-user --unshare-pid --cap-drop ALL --dev-bind / / --proc /proc --'.split(' ');
  const unshared = network.unsharesNet ? ['bwrap', '--unshare-net', ...sandbox.slice(1)] : sandbox;
  const [program, ...args] = [...network.enter, ...unshared, process.execPath, '-e', `${INSIDE}\n${script}`];
  const env = { PATH: process.env['PATH'], BATON_URL: network.url ?? '', ...network.env };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the script inside ended with code ${code}`);
  return JSON.parse(output);
}

/** Functions for scripts inside: `get` returns a body, `tunnel` a status line, or the error's code. */
const INSIDE = `
const http = require('node:http'), net = require('node:net'), fs = require('node:fs'), os = require('node:os');
const get = (url) => new Promise((resolve) => http.get(url, { agent: false, timeout: 5000 }, (answer) => {
  let text = ''; answer.on('data', (chunk) => text += chunk); answer.on('end', () => resolve(text));
}).on('error', (error) => resolve(error.code)));
const tunnel = (proxy, to) => new Promise((resolve) => net.connect(Number(new URL(proxy).port), '127.0.0.1', function () {
  this.write('CONNECT ' + to + ' HTTP/1.1\\r\\n\\r\\n'); this.once('data', (data) => { resolve(String(data).split('\\r\\n')[0]); this.destroy(); });
}).on('error', (error) => resolve(error.code)));
const print = (value) => process.stdout.write(JSON.stringify(value));
`;

/** Starts a server on the host's loopback address. */
export async function serverSaying(text: string): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((_, response) => response.end(text));
  return { server, port: await serveAt(server, 'host') };
}
