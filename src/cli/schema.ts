import type { CliCommand } from './command.ts';
import { EXIT } from './command.ts';
import { findMessageKind, MESSAGE_KIND_NAMES } from './message-kinds.ts';
import { reportUnknownKind } from './unknown-kind.ts';

export const schemaCommand: CliCommand = {
  name: 'schema',
  summary: 'Print the JSON Schema of a message',
  examples: ['baton schema mission > mission.schema.json'],
  args: [{ name: 'KIND', about: `One of: ${MESSAGE_KIND_NAMES.join(', ')}` }],
  options: [],
  async run({ args: [kind = ''] }, io) {
    const dialect = findMessageKind(kind);
    if (dialect === undefined) return reportUnknownKind(kind, io);
    io.out(`${JSON.stringify((await dialect.load()).schema, null, 2)}\n`);
    return EXIT.ok;
  },
};
