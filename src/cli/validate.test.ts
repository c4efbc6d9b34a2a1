import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../test/run-cli.ts';
import { MESSAGE_KIND_NAMES } from './message-kinds.ts';

const SIGNAL = '{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"REVIEW","exit_reason":"completed"}';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-validate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('baton validate', () => {
  it('reports a valid message, and exits 0', async () => {
    expect(await runCli(['validate', 'exit', '-'], SIGNAL)).toEqual({
      code: 0,
      out: 'standard input: valid exit signal\n',
      err: '',
    });
  });

  it('shows each problem with its place and hint, and exits 1', async () => {
    const file = join(folder, 'signal.json');
    writeFileSync(file, SIGNAL.replace('1.0.0', '2.0.0'));
    const { code, out, err } = await runCli(['validate', 'exit', file]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.split('\n')).toEqual([
      "Error: unsupported version: expected '1.x', got '2.0.0' [unsupported-version]",
      `  at ${file}:1:41 (version)`,
      `  1 | ${SIGNAL.replace('1.0.0', '2.0.0')}`,
      `    | ${' '.repeat(40)}^`,
      '  hint: Use "1.0.0".',
      '',
    ]);
  });

  it('prints {valid, problems} with --json', async () => {
    const good = await runCli(['validate', 'exit', '-', '--json'], SIGNAL);
    expect(JSON.parse(good.out)).toEqual({ valid: true, problems: [] });
    const bad = await runCli(['validate', 'agent-signal', '-', '--json'], '{"kind":"stop"}');
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toEqual({
      valid: false,
      problems: [
        {
          code: 'invalid-value',
          message: 'Invalid kind: stop (expected: complete, escalate, continue)',
          path: 'kind',
          line: 1,
          column: 9,
          hint: expect.any(String),
        },
      ],
    });
  });

  // An empty answer of a stop hook is valid and lets the agent stop. An empty runbook is valid too.
  it.each(MESSAGE_KIND_NAMES.filter((kind) => kind !== 'stop-hook-output' && kind !== 'runbook'))(
    'refuses an empty %s and an oversized one, as a value and with a hint',
    async (kind) => {
      for (const input of ['', new Uint8Array(5_000_000).fill(0x20)]) {
        const { code, out } = await runCli(['validate', kind, '-', '--json'], input);
        expect(code).toBe(1);
        const { problems } = JSON.parse(out);
        expect(problems[0].hint).not.toBe('');
      }
    },
  );

  it('refuses a huge file by its size, without reading it', async () => {
    const file = join(folder, 'huge.json');
    writeFileSync(file, '');
    truncateSync(file, 2 ** 40);
    const { code, err } = await runCli(['validate', 'exit', file]);
    expect(code).toBe(1);
    expect(err).toContain('Error: input too large: 1099511627776 bytes > 65536 bytes maximum');
  });

  it('reports a missing file, in both forms', async () => {
    const { code, err } = await runCli(['validate', 'exit', join(folder, 'none.json')]);
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: cannot read .*none\.json: no such file or folder \[unreadable-file\]\n/);
    const { out } = await runCli(['validate', 'exit', folder, '--json']);
    expect(JSON.parse(out)).toMatchObject({ valid: false, problems: [{ code: 'unreadable-file' }] });
  });

  it('refuses an unknown kind, lists the known ones, and exits 2', async () => {
    const { code, err } = await runCli(['validate', 'misson', 'x']);
    expect(code).toBe(2);
    expect(err).toContain('(did you mean mission?) [usage]');
    expect((await runCli(['validate', '__proto__', 'x'])).code).toBe(2);
  });

  it("shows an agent's control characters as codes", async () => {
    const { err } = await runCli(['validate', 'exit', '-'], SIGNAL.replace('REVIEW', '\\u001b[2J'));
    expect(err).not.toContain('\u001b');
    expect(err).toContain('\\u001b[2J');
  });
});

describe('baton schema', () => {
  it.each(MESSAGE_KIND_NAMES)('prints the JSON Schema of %s', async (kind) => {
    const { code, out } = await runCli(['schema', kind]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
  });

  it('refuses an unknown kind', async () => {
    expect((await runCli(['schema', 'poem'])).code).toBe(2);
  });
});
