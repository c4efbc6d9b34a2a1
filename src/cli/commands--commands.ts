import type { ListedCommand } from './command.ts';

/** The record and its proofs. */
export const LEDGER_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'ledger log',
    summary: 'Show the ledger',
    load: async () => (await import('./ledger/entries.ts')).ledgerLogCommand,
  },
  {
    name: 'ledger show',
    summary: 'Show one entry in full',
    load: async () => (await import('./ledger/show.ts')).ledgerShowCommand,
  },
  {
    name: 'ledger verify',
    summary: 'Check the ledger: chain, hashes, signatures, tree, outside checkpoint, snapshot',
    load: async () => (await import('./ledger/verify.ts')).ledgerVerifyCommand,
  },
  {
    name: 'ledger seal',
    summary: 'Seal the ledger: record a signed root over all entries',
    load: async () => (await import('./ledger/seals.ts')).ledgerSealCommand,
  },
  {
    name: 'ledger root',
    summary: 'Show the last seal: its root, and how many entries it covers',
    load: async () => (await import('./ledger/root.ts')).ledgerRootCommand,
  },
  {
    name: 'ledger prove',
    summary: 'Write a proof of one task that anybody can check',
    load: async () => (await import('./ledger/prove.ts')).ledgerProveCommand,
  },
  {
    name: 'ledger export',
    summary: 'Print the ledger as NDJSON that others can check',
    load: async () => (await import('./ledger/export.ts')).ledgerExportCommand,
  },
];
