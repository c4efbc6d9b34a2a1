import type { Command } from './command.ts';
import { EXIT } from './command.ts';
import { findDialect, KINDS } from './dialects.ts';
import { unknownKind } from './unknown-kind.ts';

export const schema: Command = {
  name: 'schema',
  summary: 'Print the JSON Schema of a message',
  examples: ['baton schema mission > mission.schema.json'],
  args: [{ name: 'KIND', about: `One of: ${KINDS.join(', ')}` }],
  options: [],
  async run({ args: [kind = ''] }, io) {
    const dialect = findDialect(kind);
    if (dialect === undefined) return unknownKind(kind, io);
    io.out(`${JSON.stringify((await dialect.load()).schema, null, 2)}\n`);
    return EXIT.ok;
  },
};
