import type { Command } from './command.ts';

interface Listed {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Every command. Only what help needs stands here, so that a command pays for nothing but itself. */
export const COMMANDS: readonly Listed[] = [
  {
    name: 'validate',
    summary: 'Check a message and show what is wrong with it',
    load: async () => (await import('./validate.ts')).validate,
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of a message',
    load: async () => (await import('./schema.ts')).schema,
  },
];
