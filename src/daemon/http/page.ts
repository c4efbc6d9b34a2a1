import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', 'web');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
};

/**
 * Security headers: no foreign content, no markup from scripts, no framing, so that texts of agents stay text. One
 * script may load another, the page's own worker.
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types baton",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

let loading: Promise<ReadonlyMap<string, Uint8Array>> | undefined;

/** Serves the page, which needs no token; its data does. Returns false for other paths. */
export function servePage(
  { method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
  response: ServerResponse,
): boolean {
  const [, name] = (method === 'GET' ? PAGE_PATH.exec(url) : null) ?? [];
  if (name === undefined) return false;
  void sendFile(name === '' ? 'page.html' : name, response);
  return true;
}

const PAGE_PATH = /^\/((?:[a-z]+(?:-[A-Za-z0-9]+)?\.(?:css|svg|js))?)(?:\?|$)/;

async function sendFile(name: string, response: ServerResponse): Promise<void> {
  loading ??= loadPage();
  try {
    const content = (await loading).get(name);
    const type = TYPES[extname(name)] ?? 'text/plain';
    response.writeHead(content === undefined ? 404 : 200, { ...HEADERS, 'content-type': type }).end(content);
  } catch (error) {
    // The next request retries.
    loading = undefined;
    const why = error instanceof Error ? error.message : String(error);
    response.writeHead(500, { ...HEADERS, 'content-type': 'text/plain' }).end(`The page cannot be served: ${why}\n`);
  }
}

/** The package contains built scripts. In a clone they are built now, in memory. */
async function loadPage(): Promise<ReadonlyMap<string, Uint8Array>> {
  const names = readdirSync(FOLDER).filter((name) => extname(name) in TYPES);
  const files = new Map<string, Uint8Array>(names.map((name) => [name, readFileSync(join(FOLDER, name))]));
  if (files.has('page.js')) return files;
  const bundler = join(FOLDER, '..', '..', 'scripts', 'bundle-page.ts');
  if (!existsSync(bundler)) throw new Error('the scripts of the page are missing: reinstall Baton');
  const { bundlePage }: { bundlePage: () => Promise<ReadonlyMap<string, Uint8Array>> } = await import(bundler);
  for (const [name, content] of await bundlePage()) files.set(name, content);
  return files;
}
