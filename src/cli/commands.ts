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
  {
    name: 'ledger log',
    summary: 'Show what was recorded',
    load: async () => (await import('./ledger/log.ts')).log,
  },
  {
    name: 'ledger show',
    summary: 'Show one entry in full',
    load: async () => (await import('./ledger/show.ts')).show,
  },
  {
    name: 'ledger verify',
    summary: 'Check the whole record: chain, hashes, signatures, tree, outside checkpoint',
    load: async () => (await import('./ledger/verify.ts')).verify,
  },
  {
    name: 'ledger seal',
    summary: 'Record a signed root over everything so far',
    load: async () => (await import('./ledger/seal.ts')).seal,
  },
  {
    name: 'ledger root',
    summary: 'Print the root of the last seal',
    load: async () => (await import('./ledger/root.ts')).root,
  },
  {
    name: 'ledger prove',
    summary: 'Write everything about a task into one file that anybody can check',
    load: async () => (await import('./ledger/prove.ts')).prove,
  },
  {
    name: 'ledger export',
    summary: 'Print the whole record as NDJSON that others can check',
    load: async () => (await import('./ledger/export.ts')).exportCommand,
  },
  {
    name: 'verify',
    summary: 'Check a task proof or an export, offline',
    load: async () => (await import('./verify.ts')).verify,
  },
];
