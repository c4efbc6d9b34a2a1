import { describe, expect, it } from 'vitest';
import { OPERATIONS } from './registry.ts';
import { commandAccess } from '../../protocol/command-access.ts';

const commands: Readonly<Record<string, readonly string[]>> = commandAccess;

describe('an operation that sends a command', () => {
  it('is open to no caller whose command would be refused', () => {
    const wider = [...OPERATIONS.values()].flatMap(({ name, command, access }) =>
      access.filter((kind) => command !== undefined && !commands[command]?.includes(kind)).map((kind) => [name, kind]),
    );
    expect(wider).toEqual([]);
  });

  it('is open to some caller', () => {
    expect([...OPERATIONS.values()].filter(({ access }) => access.length === 0)).toEqual([]);
  });
});
