import { describe, expect, it } from 'vitest';
import { CLI_CALLS } from '../api/operations/cli-calls.ts';
import { OPERATIONS } from '../api/operations/registry.ts';
import { COMMANDS } from './commands.ts';

const commands = await Promise.all(COMMANDS.map(async ({ name, load }) => ({ name, ...(await load()) })));

describe('the table by which hints name tools', () => {
  it('has every command that calls a tool, with its operation', () => {
    const calls = commands.flatMap(({ name, operation }) =>
      operation !== undefined && OPERATIONS.get(operation)?.tool === true ? [[name, operation]] : [],
    );
    const rows = Object.entries(CLI_CALLS).map(([name, { operation }]) => [name, operation]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(calls));
  });

  it('has only arguments and options of the command', () => {
    const wrong = Object.entries(CLI_CALLS).flatMap(([name, { args = [], options = {} }]) => {
      const command = commands.find((each) => each.name === name);
      const known = new Set(command?.options.map((option) => option.name));
      const unknown = Object.keys(options).filter((option) => !known.has(option));
      return args.length <= (command?.args.length ?? 0) && unknown.length === 0 ? [] : [name];
    });
    expect(wrong).toEqual([]);
  });
});
