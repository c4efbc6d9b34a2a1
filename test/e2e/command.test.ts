import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listLiving } from '../../src/api/processes.ts';
import { inLongLane, isLongLane } from '../lanes.ts';
import { BATON } from '../package/where.ts';
import { until } from '../processes/until.ts';

/** The command as users run it: the working tree through its bin, and the bundle as in an installed package. */
const root = join(import.meta.dirname, '../..');
const sample = join(root, 'examples/messages/exit-signal.json');
let folder: string;

beforeAll(() => {
  // A separate build takes seconds of CPU time; the tests' own package has the same bundles.
  folder = isLongLane ? mkdtempSync(join(tmpdir(), 'baton-built-')) : dirname(dirname(BATON));
  if (!isLongLane) return;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root });
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true });
}, 120_000);
afterAll(() => {
  if (isLongLane) rmSync(folder, { recursive: true });
});

describe.each([
  ['the working tree', () => join(root, 'bin/baton.cjs')],
  ['the bundle', () => join(folder, 'bin/baton.cjs')],
])('%s', (_, bin) => {
  it('validates a file', () => {
    const { status, stdout, stderr } = run(process.execPath, [bin(), 'validate', 'exit', sample]);
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `${sample}: valid exit signal\n`,
      stderr: '',
    });
  });

  it('validates standard input, in every dialect', () => {
    for (const [kind, name] of [
      ['mission', 'mission.yaml'],
      ['handoff', 'handoff.xml'],
      ['thought', 'thought-record.json'],
    ] as const) {
      const input = readFileSync(join(root, 'examples/messages', name));
      const { status, stdout } = run(process.execPath, [bin(), 'validate', kind, '-', '--json'], input);
      expect({ status, verdict: JSON.parse(stdout) }).toEqual({
        status: 0,
        verdict: { valid: true, problems: [] },
      });
    }
  });

  it('exits quietly if its reader does', () => {
    const { status, stderr } = run('bash', [
      '-c',
      `"${process.execPath}" "${bin()}" schema result | head -c 1; exit \${PIPESTATUS[0]}`,
    ]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

inLongLane(() => {
  describe('the libraries of the package', () => {
    it('are imported by name, and have types', () => {
      const program = `
        import { parseExitSignal } from 'batonctl/protocol';
        import { canonicalJson, toHex, webVerifier } from 'batonctl/ledger';
        import { createClient } from 'batonctl/client';
        const client = createClient({ stateDir: ${JSON.stringify(join(folder, 'state'))}, autostart: false, reachMs: 1 });
        const health = await client.health();
        console.log(parseExitSignal('').ok, canonicalJson({ b: 1, a: 2 }).value, toHex(webVerifier.sha256(new Uint8Array())).slice(0, 8));
        console.log(health.error.code);`;
      writeFileSync(join(folder, 'program.mjs'), program);
      const { stdout, stderr } = run(process.execPath, [join(folder, 'program.mjs')]);
      expect({ stdout, stderr }).toEqual({ stdout: 'false {"a":2,"b":1} e3b0c442\ndaemon-away\n', stderr: '' });
      for (const name of ['protocol', 'ledger', 'api']) {
        expect(existsSync(join(folder, 'dist/types', name, 'index.d.ts'))).toBe(true);
      }
    });
  });
});

describe('an old Node', () => {
  const old = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((entry) => join(entry, 'node'))
    .find((node) => existsSync(node) && majorOf(node) < 24);

  it.runIf(old !== undefined)("runs a clone's own Node", () => {
    const { status, stdout, stderr } = run(old ?? '', [join(root, 'bin/baton.cjs'), 'validate', 'exit', sample]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('valid exit signal');
    expect(run(old ?? '', [join(root, 'bin/baton.cjs'), 'nonsense']).status).toBe(2);
  });

  it.runIf(old !== undefined)('exits after a signal with the exit code of a shell', async () => {
    const child = spawn(old ?? '', [join(root, 'bin/baton.cjs'), 'validate', 'exit', '-'], { stdio: 'pipe' });
    const ended = once(child, 'exit');
    await until('its own Node runs', () => listLiving().some(({ parent }) => parent === child.pid));
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
  });

  it.runIf(old !== undefined)('prints a sentence instead of a syntax error elsewhere', () => {
    const { status, stderr } = run(old ?? '', [join(folder, 'bin/baton.cjs'), 'validate', 'exit', sample]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^Error: Baton needs Node 24\.11 or newer, and this is Node [\d.]+\. Get one: http.*\n$/);
  });

  it('is recognised by the guard, whatever this machine has', () => {
    const guard = readFileSync(join(root, 'bin/baton.cjs'), 'utf8');
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '24.10.0' });`;
    const { status, stderr } = run(process.execPath, ['-e', pretend + guard.replace(/^#!.*/, '')]);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(
        /^Error: Baton needs Node 24\.11 or newer, and this is Node 24\.10\.0\. Get one.*\n$/,
      ),
    });
  });
});

function run(command: string, args: readonly string[], input?: Uint8Array) {
  return spawnSync(command, args, { encoding: 'utf8', ...(input === undefined ? {} : { input }) });
}

function majorOf(node: string): number {
  return Number(/^v(\d+)/.exec(run(node, ['--version']).stdout)?.[1] ?? Infinity);
}
