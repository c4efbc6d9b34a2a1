import { describe, expect, it } from 'vitest';
import { findJsonProblem, findUnknownField } from '../../test/json-outputs.ts';
import { runCli } from '../../test/run-cli.ts';
import { list, object, optional, text, variants, whole } from '../protocol/shape/build-shape.ts';
import type { ListedCommand } from './command.ts';
import { COMMANDS } from './commands.ts';

const commands = await Promise.all(COMMANDS.map(async ({ name, load }) => ({ name, command: await load() })));
const takesJson = commands.filter(({ command }) => command.options.some(({ name }) => name === 'json'));

describe('the JSON of commands', () => {
  it('is declared by each command that takes --json, and by no other', () => {
    const declares = commands.filter(({ command }) => command.json !== undefined && command.json.length > 0);
    expect(declares.map(({ name }) => name)).toEqual(takesJson.map(({ name }) => name));
  });

  it('names an option of the command for each further document', () => {
    const unknown = takesJson.flatMap(({ name, command: { json = [], options, args } }) =>
      json.flatMap(({ when = '' }) => {
        const known = new Set([...options.map((option) => `--${option.name}`), ...args.map((arg) => arg.name)]);
        return when.split(' ').every((word) => word === '' || known.has(word)) ? [] : [`${name} ${when}`];
      }),
    );
    expect(unknown).toEqual([]);
  });

  it.each(takesJson)('of a usage error of $name is an error document', async ({ name }) => {
    const { code, out, err } = await runCli([...name.split(' '), '--json', '--no-such-option']);
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'usage', message: expect.stringContaining('--no-such') } });
  });
});

describe('the comparison with the declaration', () => {
  const open = { kind: 'object', open: true, fields: {} } as const;
  const shape = object({ id: text, more: optional(list(object({ n: whole }))), free: optional(open) });
  const listed = (lines: boolean): ListedCommand => ({
    name: 'thing list',
    summary: '',
    load: async () => ({
      examples: ['baton thing list'],
      args: [],
      options: [],
      json: [{ shape, ...(lines ? { lines: true } : {}) }],
      run: () => 0,
    }),
  });

  it.each([
    ['{"id":"a"}\n', undefined],
    ['{"id":"a","more":[{"n":1}]}\n', undefined],
    ['{"id":"a","free":{"any":"field"}}\n', undefined],
    ['{"error":{"code":"usage","message":"m","hint":""}}\n', undefined],
    ['{"kept":true,"message":"m","hint":""}\n', undefined],
    ['{"id":1}\n', 'id is not a text'],
    ['{"id":"a","more":[{"n":1,"m":2}]}\n', 'more[0].m is not declared'],
    ['{"error":{"code":"usage","message":"m","hint":"","why":""}}\n', 'error.why is not declared'],
    ['{"id":"a"}\n{"id":"b"}\n', 'fits none'],
    ['ready\n', 'not JSON'],
  ])('of %j finds %s', async (out, problem) => {
    const found = await findJsonProblem(listed(false), out);
    expect(problem === undefined ? found : found?.includes(problem)).toBe(problem === undefined ? undefined : true);
  });

  it('allows several documents only if they are declared as lines', async () => {
    expect(await findJsonProblem(listed(true), '{"id":"a"}\n{"id":"b"}\n')).toBe(undefined);
    expect(await findJsonProblem(listed(true), '{"id":"a"}\n{}\n')).toContain('fits none');
  });

  it('checks the variant that matches', () => {
    const either = variants({ a: { x: text }, b: { y: text } });
    expect(findUnknownField(either, { kind: 'b', y: '1' }, '')).toBe(undefined);
    expect(findUnknownField(either, { kind: 'b', y: '1', x: '2' }, '')).toBe('x is not declared');
  });
});
