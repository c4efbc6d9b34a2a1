import { describe, expect, it } from 'vitest';
import type { CliCommand } from './command.ts';
import { parseArgs } from './parse-args.ts';

const command: CliCommand = {
  examples: ['baton prove T1'],
  args: [
    { name: 'TASK', about: 'the task' },
    { name: 'FILE', about: 'the file', optional: true },
  ],
  options: [
    { name: 'json', about: 'as JSON' },
    { name: 'output', short: 'o', value: 'FILE', about: 'where to' },
    { name: 'label', value: 'A,B', isList: true, about: 'several' },
    { name: 'by', value: 'WHAT', choices: ['day', 'task'], about: 'one of' },
  ],
  run: () => 0,
};

const given = (args: string[], options: Record<string, string>) => ({
  kind: 'given',
  given: { args, options: new Map(Object.entries(options)) },
  notes: [],
});

describe('a command line', () => {
  it.each([
    [['T1'], given(['T1'], {})],
    [['T1', '--json'], given(['T1'], { json: '' })],
    [['--json', 'T1', 'f'], given(['T1', 'f'], { json: '' })],
    [['T1', '-o', 'x'], given(['T1'], { output: 'x' })],
    [['T1', '--output', 'x'], given(['T1'], { output: 'x' })],
    [['T1', '--output=a=b'], given(['T1'], { output: 'a=b' })],
    [['T1', '--label', 'a,b', '--label=c'], given(['T1'], { label: 'a,b,c' })],
    [['T1', '-'], given(['T1', '-'], {})],
    [['T1', '--by=day'], given(['T1'], { by: 'day' })],
    [['T1', '--no-pager'], { ...given(['T1'], {}), pager: false }],
    [['--', '--json', '-o'], given(['--json', '-o'], {})],
    [['T1', '-h'], { kind: 'help', args: ['T1'] }],
    [['--help'], { kind: 'help', args: [] }],
  ])('%j is understood', (argv, expected) => {
    expect(parseArgs(command, argv)).toEqual(expected);
  });

  it.each([
    [[], 'missing argument: TASK'],
    [['a', 'b', 'c'], 'unexpected argument: c'],
    [['a', '--jsn'], 'unknown option: --jsn (did you mean --json?)'],
    [['a', '-x'], 'unknown option: -x'],
    [['a', '--output'], '--output needs a value: --output FILE'],
    [['a', '--json=yes'], '--json takes no value'],
    [['a', '--by', 'tsk'], '--by must be one of day, task, not tsk (did you mean task?)'],
    [['a', '--by='], '--by must be one of day, task, not '],
  ])('%j is refused with the reason', (argv, problem) => {
    expect(parseArgs(command, argv)).toEqual({ kind: 'usage', problem });
  });
});

it('refuses an argument that is not one of its choices', () => {
  const chosen = { ...command, args: [{ name: 'KIND', choices: ['exit', 'result'], about: 'which' }] };
  expect(parseArgs(chosen, ['exit'])).toEqual(given(['exit'], {}));
  const problem = 'KIND must be one of exit, result, not resutl (did you mean result?)';
  expect(parseArgs(chosen, ['resutl'])).toEqual({ kind: 'usage', problem });
});

describe('an option that was renamed', () => {
  const renamed = {
    ...command,
    options: [{ name: 'reason', value: 'TEXT', formerly: ['--message', '-m'], about: 'why' }],
  } as const;

  it.each(['--message', '-m'])('is accepted as %s, with a note', (old) => {
    expect(parseArgs(renamed, ['T1', old, 'why'])).toEqual({
      ...given(['T1'], { reason: 'why' }),
      notes: [`${old} is now --reason; the next release no longer accepts ${old} here`],
    });
  });

  it('is suggested by its new name only', () => {
    expect(parseArgs(renamed, ['T1', '--reson', 'why'])).toEqual({
      kind: 'usage',
      problem: 'unknown option: --reson (did you mean --reason?)',
    });
    expect(parseArgs(renamed, ['T1', '--reason', 'why'])).toEqual(given(['T1'], { reason: 'why' }));
  });
});

describe('a command that passes arguments on', () => {
  const passing = {
    ...command,
    args: [{ name: 'NAME', about: '' }],
    rest: { name: 'ARG', about: '', options: true },
  } as const;

  it.each([
    [['ship'], given(['ship'], {})],
    [['ship', 'a', 'b', '--dry', '--tag=x', '-z', '1'], given(['ship', 'a', 'b', '--dry', '--tag=x', '-z', '1'], {})],
    [['ship', '--json', '--dry'], given(['ship', '--dry'], { json: '' })],
    [['ship', '--', '--json', '-h'], given(['ship', '--json', '-h'], {})],
    [['ship', '-h'], { kind: 'help', args: ['ship'] }],
  ])('%j is understood', (argv, expected) => {
    expect(parseArgs(passing, argv)).toEqual(expected);
  });

  it('takes more arguments without taking options for them', () => {
    const listing = { ...command, args: [], rest: { name: 'FILE', about: '' } };
    expect(parseArgs(listing, ['a', 'b', '--json'])).toEqual(given(['a', 'b'], { json: '' }));
    expect(parseArgs(listing, ['a', '--jsn'])).toMatchObject({ kind: 'usage' });
  });

  it.each([
    [[], 'missing argument: NAME'],
    [['--jsn', 'ship'], 'unknown option: --jsn (did you mean --json?)'],
  ])('%j is refused with the reason', (argv, problem) => {
    expect(parseArgs(passing, argv)).toEqual({ kind: 'usage', problem });
  });
});
