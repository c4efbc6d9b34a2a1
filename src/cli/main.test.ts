import { describe, expect, it } from 'vitest';
import { runCli } from '../../test/run-cli.ts';
import { COMMANDS } from './commands.ts';

describe('baton', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('shows the overview for %j', async (argv) => {
    const { code, out } = await runCli(argv);
    expect(code).toBe(0);
    expect(out.startsWith('  baton ')).toBe(true);
    for (const { name, summary } of COMMANDS) expect(out).toMatch(new RegExp(`${name}\\s+${summary}`));
  });

  it('shows the same help of a command or group for `help X` and `X --help`', async () => {
    for (const words of [['task'], ['task', 'claim']]) {
      const helped = await runCli(['help', ...words]);
      expect(helped).toEqual(await runCli([...words, '--help']));
      expect(helped.out).toContain(`Usage: baton ${words.join(' ')}`);
    }
  });

  it('prints its version', async () => {
    expect(await runCli(['--version'])).toEqual({ code: 0, out: '0.1.0\n', err: '' });
  });

  it('suggests the command that was probably meant, and exits 2', async () => {
    const { code, err } = await runCli(['valdate']);
    expect(code).toBe(2);
    expect(err).toBe('Error: unknown command: valdate\nDid you mean: baton validate\nTry: baton --help\n');
  });
});

describe('every command', () => {
  it.each(COMMANDS.map(({ name }) => name))('%s has help that opens with an example', async (name) => {
    const { code, out, err } = await runCli([...name.split(' '), '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n')[0]).toContain(`baton ${name}`);
    expect(out).toContain(`Usage: baton ${name}`);
    expect(out).toContain('-h, --help');
  });

  it.each(COMMANDS.map(({ name }) => name))('%s refuses an unknown option, and exits 2', async (name) => {
    const { code, err } = await runCli([...name.split(' '), '--jsno']);
    expect(code).toBe(2);
    expect(err).toContain('Error: unknown option: --jsno');
    expect(err).toContain(`Try: baton ${name} --help`);
  });
});
