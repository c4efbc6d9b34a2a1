import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArgsDefinition } from './command-args.ts';
import { issueArgs } from './library.ts';
import { parseCommandArgs } from './parse-command-args.ts';

const ARGS = '<title> [body] --dry-run [--priority <n>]';

function parse(args: string, ...argv: string[]): unknown {
  const read = parseArgsDefinition(args);
  if ('what' in read) return read.what;
  const parsed = parseCommandArgs({ name: 'issue', args: read }, argv);
  return parsed.ok ? parsed.value : `${parsed.problems[0].message} | ${parsed.problems[0].hint}`;
}

describe('the arguments of a command', () => {
  it.each([
    [['Fix it'], { title: 'Fix it', body: '', 'dry-run': '', priority: '' }],
    [['Fix it', 'now'], { title: 'Fix it', body: 'now', 'dry-run': '', priority: '' }],
    [['--dry-run', 'Fix it'], { title: 'Fix it', body: '', 'dry-run': 'true', priority: '' }],
    [['Fix it', '--priority', '3'], { title: 'Fix it', body: '', 'dry-run': '', priority: '3' }],
    [['Fix it', '--priority=3=4'], { title: 'Fix it', body: '', 'dry-run': '', priority: '3=4' }],
    [['Fix it', '--priority', '--dry-run'], { title: 'Fix it', body: '', 'dry-run': '', priority: '--dry-run' }],
    [['--', '--dry-run', '-x'], { title: '--dry-run', body: '-x', 'dry-run': '', priority: '' }],
    [['-'], { title: '-', body: '', 'dry-run': '', priority: '' }],
  ])('%j', (argv, expected) => {
    expect(parse(ARGS, ...argv)).toEqual(expected);
  });

  it.each([
    [[], 'missing argument: <title>'],
    [['a', 'b', 'c'], 'unexpected argument: c'],
    [['a', '--dry-run=yes'], '--dry-run takes no value'],
    [['a', '--priority'], '--priority needs a value: --priority <n>'],
    [['a', '--dry-run', '--dry-run'], '--dry-run is given twice'],
  ])('%j is wrong: %s', (argv, message) => {
    expect(parse(ARGS, ...argv)).toBe(`${message} | Usage: baton run issue ${ARGS}`);
  });

  it('suggests the probable name', () => {
    expect(parse(ARGS, 'a', '--piority', '1')).toBe(
      `unknown option: --piority | Did you mean \`--priority\`? Usage: baton run issue ${ARGS}`,
    );
  });

  it('may be empty', () => {
    expect(parse('')).toEqual({});
    expect(parse('', 'x')).toBe('unexpected argument: x | Usage: baton run issue');
  });

  it('may have an option with several values: separated by commas, or in several options', () => {
    const args = issueArgs();
    const ids = (...argv: string[]): unknown => {
      const parsed = parseCommandArgs({ name: 'issue', args }, argv);
      return parsed.ok ? parsed.value['task'] : parsed.problems[0].message;
    };
    expect(ids('--task', 'A,B', '--mode', 'semi', '--task=C')).toBe('A,B,C');
    expect(ids('--task', 'A', '--mode', 'semi', '--mode', 'semi')).toBe('--mode is given twice');
  });

  it('may have a required option', () => {
    expect(parse('--env <name>', '--env', 'prod')).toEqual({ env: 'prod' });
    expect(parse('--env <name>')).toBe('missing option: --env <name> | Usage: baton run issue --env <name>');
  });
});

describe('a definition of arguments', () => {
  it.each([
    [
      '<a> <b> [c] [d]',
      {
        positionals: [
          { name: 'a', required: true },
          { name: 'b', required: true },
          { name: 'c', required: false },
          { name: 'd', required: false },
        ],
        options: [],
      },
    ],
    [
      '  <a>   [--x   <y>]  ',
      { positionals: [{ name: 'a', required: true }], options: [{ name: 'x', value: 'y', required: false }] },
    ],
    ['[--x]', { positionals: [], options: [{ name: 'x', value: null, required: false }] }],
  ])('%j is read', (text, expected) => {
    expect(parseArgsDefinition(text)).toMatchObject(expected);
  });

  it.each([
    ['title', 'not an argument: title'],
    ['<a', 'not an argument: <a'],
    ['<a b>', 'not an argument: <a'],
    ['[--x <y>', 'not an argument: [--x <y>'],
    ['-x', 'not an argument: -x'],
    ['<a> [a]', 'argument twice: a'],
    ['[a] <b>', '<b> comes after an optional argument'],
  ])('%j is not: %s', (text, what) => {
    expect(parseArgsDefinition(text)).toMatchObject({ what });
  });

  it('is never too long', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '[', ']', '-', ' ', 'a', '\n') }),
        (text) => void parseArgsDefinition(text),
      ),
    );
    for (const unit of ['<', '[', '--a <', '[--a ', '- ', '] ']) {
      const start = performance.now();
      parseArgsDefinition(unit.repeat(200_000 / unit.length));
      expect(performance.now() - start).toBeLessThan(2_000);
    }
  });
});
