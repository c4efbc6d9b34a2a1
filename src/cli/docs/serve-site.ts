import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { isLoopbackHost } from '../../api/http/request.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { describeError } from '../problems.ts';
import type { Site } from './site/build-site.ts';

interface SiteServer extends AsyncDisposable {
  readonly url: string;
}

type Served =
  | { readonly ok: true; readonly value: SiteServer }
  | { readonly ok: false; readonly problem: Pick<Problem, 'code' | 'message' | 'hint'> };

/** Serves the site on loopback. Only files of the site can be read, whatever the path. */
export async function serveSite(site: Site, port: number): Promise<Served> {
  const server = createServer((request, response) => send(site, request, response));
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    const message = `cannot serve at port ${port}: ${describeError(error)}`;
    return { ok: false, problem: { code: 'docs-port', message, hint: 'Choose another port, or leave --port out.' } };
  }
  const address = server.address();
  const chosen = typeof address === 'object' && address !== null ? address.port : port;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { ok: true, value: { url: `http://127.0.0.1:${chosen}/`, [Symbol.asyncDispose]: close } };
}

function send(site: Site, { method, url = '/', headers }: IncomingMessage, response: ServerResponse): void {
  const path = url.replace(/[?#].*/, '').slice(1) || 'index.html';
  const content = isLoopbackHost(headers) && (method === 'GET' || method === 'HEAD') ? site.get(path) : undefined;
  const type =
    content === undefined ? 'text/plain; charset=utf-8' : (TYPES[extname(path)] ?? 'application/octet-stream');
  response.writeHead(content === undefined ? 404 : 200, {
    ...(extname(path) === '.svg' ? PICTURE_HEADERS : HEADERS),
    'content-type': type,
  });
  response.end(method === 'HEAD' ? undefined : (content ?? 'There is no such page.\n'));
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** A picture that is opened directly has its own styles, for the dark theme. */
const PICTURE_HEADERS = { ...HEADERS, 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" };
