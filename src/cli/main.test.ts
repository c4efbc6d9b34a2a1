import { describe, expect, it } from 'vitest';
import { runCli } from '../../test/run-cli.ts';
import { COMMANDS } from './commands.ts';
import { HELP_GROUPS } from './help/help-groups.ts';

describe('baton', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('shows the overview for %j', async (argv) => {
    const { code, out } = await runCli(argv);
    expect(code).toBe(0);
    expect(out.startsWith('  baton ')).toBe(true);
    for (const { title } of HELP_GROUPS) expect(out).toContain(`\n${title}:\n`);
    const words = new Set(COMMANDS.map(({ name }) => name.split(' ', 1)[0] ?? ''));
    for (const word of words) expect(out).toMatch(new RegExp(`^ {2}${word}\\b`, 'm'));
    expect(out.split('\n').length).toBeLessThan(80);
  });

  it('lists every command in the help of one group', async () => {
    const groups = await Promise.all(HELP_GROUPS.map(async ({ name }) => runCli(['help', name])));
    const isOnce = ({ name, summary }: (typeof COMMANDS)[number]): boolean => {
      const row = new RegExp(`^ {2}${name} +${RegExp.escape(summary)}$`, 'm');
      return groups.filter(({ out }) => row.test(out)).length === 1;
    };
    expect(COMMANDS.filter((each) => !isOnce(each)).map(({ name }) => name)).toEqual([]);
  });

  it('has no command with the name of a group', () => {
    const names = new Set(COMMANDS.flatMap(({ name }) => name.split(' ', 1)));
    expect(HELP_GROUPS.filter(({ name }) => names.has(name))).toEqual([]);
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
    expect(err).toBe('Error: unknown command: valdate [usage]\nDid you mean: baton validate\nTry: baton --help\n');
  });

  it.each([
    ['tsk list', 'task list'],
    ['task lst', 'task list'],
    ['task xyz', 'task --help'],
    ['tsak', 'task --help'],
    ['agent clinets', 'agent clients'],
    ['web kyes', 'web keys'],
    ['help peple', 'help people'],
    ['help task lst', 'task list'],
    ['--no-pager task list', 'task list --no-pager'],
  ])('baton %s suggests baton %s', async (typed, meant) => {
    const { code, err } = await runCli(typed.split(' '));
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`Did you mean: baton ${meant}\n`) });
  });

  it.each([
    [['tsk', 'list', '--json'], 'unknown command: tsk', 'Did you mean: baton task list'],
    [
      ['task', 'list', '--json', '--lmit', '1'],
      'unknown option: --lmit (did you mean --limit?)',
      'Try: baton task list --help',
    ],
    [['task', 'wait', '--json'], 'missing argument: ID', 'Try: baton task wait --help'],
    [
      ['ledger', 'log', '--json', '--limit', 'x'],
      '--limit must be a whole number from 0, not x',
      'Try: baton ledger log --help',
    ],
  ])('%j gives its usage error as JSON', async (argv, message, hint) => {
    const { code, out, err } = await runCli(argv);
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(JSON.parse(out)).toEqual({ error: { code: 'usage', message, hint } });
  });
});

describe('words around the command', () => {
  it.each([
    [
      ['-h', 'task', 'list'],
      ['task', 'list', '--help'],
    ],
    [
      ['--help', 'task', 'list'],
      ['task', 'list', '--help'],
    ],
    [['help', '--json'], ['help']],
    [['--help', '--no-pager'], ['help']],
    [
      ['help', 'task', '--json'],
      ['help', 'task'],
    ],
  ])('%j shows the help of %j', async (argv, same) => {
    expect(await runCli(argv)).toEqual(await runCli(same));
  });

  it.each([
    [['--vesion'], 'unknown option: --vesion (did you mean --version?)'],
    [['-x'], 'unknown option: -x'],
    [['--no', 'task', 'list'], '--no comes after the command'],
    [['task', '--frobnicate'], 'task needs a command'],
    [[''], "unknown command: ''"],
    [['task', ''], "unknown command: task ''"],
  ])('%j is refused with the reason', async (argv, message) => {
    const { code, err } = await runCli(argv);
    expect({ code, first: err.split('\n')[0] }).toEqual({ code: 2, first: `Error: ${message} [usage]` });
  });
});

it('cuts an error that quotes a very long word', async () => {
  const long = 'x'.repeat(100_000);
  for (const argv of [
    [long],
    ['task', 'list', `--${long}`],
    ['task', 'list', '--limit', long],
    ['validate', long, 'x'],
  ]) {
    expect((await runCli(argv)).err.length).toBeLessThan(3000);
    expect((await runCli([...argv, '--json'])).out.length).toBeLessThan(3000);
  }
});

it('breaks the lines of a help text at the width of the terminal, below their column', async () => {
  const { out } = await runCli(['task', 'add', '--help'], '', { isTerminal: true, env: { BATON_PAGER: '' } });
  expect(out).toMatch(/^ {6}--project DIR {14}Use this repository instead of the one\b.*\n {33}\S.*folder$/m);
  const tooLong = out.split('\n').filter((line) => line.length > 80);
  expect(tooLong.filter((line) => !line.startsWith('  baton '))).toEqual([]);
});

describe('every command', () => {
  it.each(COMMANDS.map(({ name }) => name))('%s has help that starts with an example', async (name) => {
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
