import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Registries extends AsyncDisposable {
  readonly port: number;
  /** The files of a project that names these registries, and its dependencies. */
  readonly project: Readonly<Record<string, string>>;
}

/** Registries of npm, Python and Cargo on one port of loopback, each with the package `answer`. */
export async function startRegistries(): Promise<Registries> {
  const files = new Map<string, string | Buffer>();
  const server = createServer(({ url = '' }, response) => {
    const found = files.get(url);
    response.writeHead(found === undefined ? 404 : 200, {
      'content-type': url.startsWith('/pypi/simple/') ? 'text/html' : 'application/octet-stream',
    });
    response.end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const tarball = packed('package', { 'package.json': '{"name":"answer","version":"1.0.0"}', 'index.js': '' });
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const version = { name: 'answer', version: '1.0.0', dist: { tarball: `${url}/npm/answer.tgz`, integrity } };
  files.set('/npm/answer', JSON.stringify({ name: 'answer', 'dist-tags': {}, versions: { '1.0.0': version } }));
  files.set('/npm/answer.tgz', tarball);
  files.set('/pypi/simple/answer/', `<a href="/pypi/${WHEEL_NAME}">${WHEEL_NAME}</a>`);
  files.set(`/pypi/${WHEEL_NAME}`, packWheel());
  const crate = packed('answer-1.0.0', {
    'Cargo.toml': '[package]\nname = "answer"\nversion = "1.0.0"\nedition = "2021"\n',
    'src/lib.rs': '',
  });
  const cksum = createHash('sha256').update(crate).digest('hex');
  files.set('/cargo/config.json', JSON.stringify({ dl: `${url}/cargo/dl/{crate}.crate` }));
  const line = { name: 'answer', vers: '1.0.0', deps: [], cksum, features: {}, yanked: false };
  files.set('/cargo/an/sw/answer', `${JSON.stringify(line)}\n`);
  files.set('/cargo/dl/answer.crate', crate);
  const lock = { name: 'app', version: '1.0.0', dependencies: { answer: '1.0.0' } };
  const locked = { version: '1.0.0', resolved: `${url}/npm/answer.tgz`, integrity };
  const project = {
    '.npmrc': `registry=${url}/npm/\n`,
    'package.json': JSON.stringify(lock),
    'package-lock.json': JSON.stringify({
      name: 'app',
      version: '1.0.0',
      lockfileVersion: 3,
      packages: { '': lock, 'node_modules/answer': locked },
    }),
    'pip.conf': `[global]\nindex-url = ${url}/pypi/simple/\n`,
    '.cargo/config.toml': `[source.crates-io]\nreplace-with = "own"\n[source.own]\nregistry = "sparse+${url}/cargo/"\n`,
    'Cargo.toml': '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nanswer = "1.0.0"\n',
    'src/lib.rs': '',
  };
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  return { port, project, [Symbol.asyncDispose]: close };
}

const WHEEL_NAME = 'answer-1.0.0-py3-none-any.whl';

function packWheel(): Buffer {
  const script = `
import io, sys, zipfile
made = io.BytesIO()
with zipfile.ZipFile(made, 'w') as wheel:
    wheel.writestr('answer.py', 'ANSWER = 42')
    wheel.writestr('answer-1.0.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: answer\\nVersion: 1.0.0\\n')
    wheel.writestr('answer-1.0.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('answer-1.0.0.dist-info/RECORD', '')
sys.stdout.buffer.write(made.getvalue())`;
  return execFileSync('python3', ['-c', script]);
}

/** A tar.gz with one folder. */
function packed(name: string, files: Readonly<Record<string, string>>): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'baton-package-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name, path)), { recursive: true });
      writeFileSync(join(folder, name, path), text);
    }
    execFileSync('tar', ['-czf', join(folder, 'made.tgz'), '-C', folder, name]);
    return readFileSync(join(folder, 'made.tgz'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
