import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { runCli } from '../../../test/run-cli.ts';
import { listClients } from '../../agents/capabilities/clients.ts';
import { findVersion } from './client-version.ts';

const home = mkdtempSync(join(tmpdir(), 'baton-clients-'));
const bin = join(home, 'bin');
/** Includes a relative folder, which must not be searched. */
const env = { PATH: `bin:${bin}:/usr/bin:/bin`, HOME: home, ANTHROPIC_API_KEY: 'sk-secret', BATON_TOKEN: 'secret' };

/** How each program answers when its version is requested. */
const PROGRAMS = {
  claude: `env > ${home}/environment; pwd > ${home}/folder; echo '2.1.200 (Claude Code)'`,
  gemini: "printf '\\033[2J not a version: 1.2 or 1.2.3.4\\n'",
  opencode: 'yes 99 | tr -d "\\n"',
  qwen: 'echo 0.0.1; exit 3',
  copilot: 'echo "Copilot 9999.0.0."',
  // Waits forever, with a child that holds the pipe open.
  hangs: `sleep 600 & echo $! > ${home}/child; wait`,
} as const;

beforeAll(() => {
  mkdirSync(bin);
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
});

afterAll(() => {
  rmSync(home, { recursive: true, force: true });
});

describe('baton agent clients', () => {
  let clients: readonly { readonly run: string; readonly version: unknown; readonly capabilities: object }[];
  const found = (run: string): unknown => clients.find((each) => each.run === run)?.version;

  beforeAll(async () => {
    const { out } = await runCli(['agent', 'clients', '--json'], '', { env, cwd: home });
    ({ clients } = JSON.parse(out));
  });

  it('prints every client with its capabilities', () => {
    expect(clients.map(({ run }) => run)).toEqual(listClients().map(({ run }) => run));
    expect(clients[0]?.capabilities).toMatchObject({ gate: 'http-hook', budget: 'held', attach: 'terminal' });
  });

  it('compares the installed version with the tested ones', () => {
    expect(found('claude')).toEqual({ kind: 'found', version: '2.1.200', is: 'known' });
    expect(found('qwen')).toMatchObject({ kind: 'found', version: '0.0.1' });
    expect(found('copilot')).toMatchObject({ kind: 'found', version: '9999.0.0' });
    expect(found('grok')).toEqual({ kind: 'missing' });
    expect(found('acp:COMMAND')).toBeNull();
  });

  it.each(['gemini', 'gemini-acp', 'opencode'])('does not accept the garbage of %s as a version', (run) => {
    expect(found(run)).toEqual({ kind: 'silent' });
  });

  it('passes no secrets, and runs programs outside of the project', () => {
    const passed = readFileSync(join(home, 'environment'), 'utf8');
    expect(passed).not.toContain('secret');
    expect(passed).toContain('DISABLE_AUTOUPDATER=1');
    expect(readFileSync(join(home, 'folder'), 'utf8')).toBe('/\n');
  });
});

it('waits no longer than the timeout, and kills what a program started', async () => {
  expect(await findVersion({ program: 'hangs' }, env, 1000)).toEqual({ kind: 'silent' });
  const child = Number(readFileSync(join(home, 'child'), 'utf8'));
  await until('the child has ended', () => !isRunning(child));
});

/** A zombie counts as ended. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

it('explains one client to people, and suggests a name', async () => {
  const place = { env: { PATH: '' }, cwd: home };
  const { out } = await runCli(['agent', 'clients', 'grok'], '', place);
  expect(out).toMatch(/^grok {2}Grok\n/);
  expect(out).toMatch(/^ {2}version +not on the PATH$/m);
  expect(out).toMatch(/^ {2}budget binds +after a turn: /m);
  expect(out).not.toContain('`');
  const { code, err } = await runCli(['agent', 'clients', 'gork'], '', place);
  expect(code).toBe(1);
  expect(err).toBe('Error: there is no client gork [no-such-client]\n  hint: Did you mean `grok`?\n');
});

it('lists them in a table', async () => {
  const { out } = await runCli(['agent', 'clients'], '', { env: { PATH: '' }, cwd: home });
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(listClients().length + 1);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120);
  expect(lines[1]).toBe(
    'claude         not on the PATH  HTTP hook       at once            same conversation  each request   before a tool',
  );
});
