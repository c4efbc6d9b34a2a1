import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionGuard } from '../../src/daemon/http/access.ts';
import { AccessTokens } from '../../src/daemon/tokens.ts';
import { type FixtureDaemon, startFixtureDaemon } from './fixture-daemon.ts';
import { type RealDaemon, startRealDaemon } from './real-daemon.ts';
import { startTokenProxy, type TokenProxy } from './token-proxy.ts';
import { inLongLane } from '../lanes.ts';

/** Scenarios that need no tools with the suite's names. */
const NEED_NO_FIXTURE = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
];

const EXPECTED_FAILURES = join(import.meta.dirname, 'conformance-expected-failures.yml');

let folder: string;
let daemon: RealDaemon;
let fixture: FixtureDaemon;
let proxies: { readonly daemon: TokenProxy; readonly fixture: TokenProxy };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-conformance-'));
  daemon = await startRealDaemon();
  const stateDir = daemon.env['BATON_STATE_DIR'] ?? '';
  fixture = await startFixtureDaemon({ tokens: new AccessTokens(stateDir), guard: new SessionGuard(stateDir) });
  const added = { authorization: `Bearer ${daemon.workerToken}`, 'baton-project-path': daemon.repository };
  proxies = {
    daemon: await startTokenProxy(daemon.port, added),
    fixture: await startTokenProxy(fixture.port, added),
  };
});
afterAll(async () => {
  await Promise.all([proxies.daemon, proxies.fixture].map(async (proxy) => proxy[Symbol.asyncDispose]()));
  await fixture[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe('the conformance suite of MCP', () => {
  it.concurrent('holds for the daemon, except for scenarios with fixtures', async () => {
    // Runs all scenarios in one process: those that look for fixtures fail at once, and one process per scenario takes
    // longer.
    const { output } = await conformance('--url', proxies.daemon.url, '--suite', 'all');
    for (const scenario of NEED_NO_FIXTURE) {
      expect(output).toMatch(new RegExp(`^✓ ${scenario}: [1-9]\\d* passed, 0 failed$`, 'm'));
    }
  });

  inLongLane(() => {
    it.concurrent('holds for its fixtures on the same transport and access checks, with the listed exceptions', async () => {
      const args = ['--suite', 'all', '--expected-failures', EXPECTED_FAILURES];
      const output = expect.stringContaining('tools-call-with-progress: 1 passed');
      expect(await conformance('--url', proxies.fixture.url, ...args)).toMatchObject({ code: 0, output });
    });
  });
});

async function conformance(...args: string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
  const child = spawn(process.execPath, [join(manifest, '..', 'dist/index.js'), 'server', ...args], {
    cwd: folder,
    timeout: 80_000,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { code, output };
}
