import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', 'web');

const FILES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/': ['page.html', 'text/html; charset=utf-8'],
  '/page.css': ['page.css', 'text/css; charset=utf-8'],
  '/icon.svg': ['icon.svg', 'image/svg+xml'],
  ...Object.fromEntries(
    ['page', 'board', 'daemon', 'standing', 'answers', 'words'].map((name) => [
      `/${name}.js`,
      [`${name}.js`, 'text/javascript; charset=utf-8'],
    ]),
  ),
};

/** No foreign content, no markup from scripts, no framing: text of agents stays text. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Serves the page, which needs no token; the data it shows does. Returns false for other paths. */
export function servePage(
  { method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
  response: ServerResponse,
): boolean {
  const found = method === 'GET' ? FILES[url.split('?', 1)[0] ?? ''] : undefined;
  if (found === undefined) return false;
  const [file, type] = found;
  response.writeHead(200, { ...HEADERS, 'content-type': type }).end(readFileSync(join(FOLDER, file)));
  return true;
}
