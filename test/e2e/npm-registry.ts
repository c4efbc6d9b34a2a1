import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface NpmRegistry extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Requests as `GET /path`, each with its authorization. */
  readonly asked: readonly { readonly request: string; readonly authorization: string | undefined }[];
}

/** A registry on loopback with one package, `shout`, which has a program of the same name. */
export async function startRegistry(): Promise<NpmRegistry> {
  const tarball = packShout();
  const asked: { request: string; authorization: string | undefined }[] = [];
  const server = createServer(({ method, url: path = '', headers }, response) => {
    asked.push({ request: `${method} ${path}`, authorization: headers.authorization });
    if (path === '/shout') return void response.end(JSON.stringify(describeShout(url, tarball)));
    if (path === TARBALL) return void response.end(tarball);
    response.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  return { port, url, asked, [Symbol.asyncDispose]: close };
}

export const TARBALL = '/shout/-/shout-1.0.0.tgz';

function packShout(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'baton-package-'));
  try {
    const root = join(folder, 'package');
    mkdirSync(root);
    writeFileSync(join(root, 'package.json'), JSON.stringify(SHOUT));
    writeFileSync(join(root, 'index.js'), 'module.exports = (text) => text.toUpperCase();\n');
    writeFileSync(join(root, 'cli.js'), '#!/usr/bin/env node\nconsole.log(require("./index.js")(process.argv[2]));\n');
    chmodSync(join(root, 'cli.js'), 0o755);
    const file = join(folder, 'shout.tgz');
    execFileSync('tar', ['-czf', file, '-C', folder, 'package']);
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const SHOUT = { name: 'shout', version: '1.0.0', main: 'index.js', bin: { shout: 'cli.js' } };

function describeShout(url: string, tarball: Buffer): object {
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const version = { ...SHOUT, dist: { tarball: `${url}${TARBALL}`, integrity } };
  return { name: 'shout', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } };
}
