import type { ListedCommand } from '../command.ts';

/** The record and its proofs. */
export const LEDGER_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'ledger log',
    summary: 'Show the ledger',
    load: async () => (await import('./log.ts')).log,
  },
  {
    name: 'ledger show',
    summary: 'Show one entry in full',
    load: async () => (await import('./show.ts')).show,
  },
  {
    name: 'ledger verify',
    summary: 'Check the ledger: chain, hashes, signatures, tree, outside checkpoint, snapshot',
    load: async () => (await import('./verify.ts')).verify,
  },
  {
    name: 'ledger seal',
    summary: 'Seal the ledger: record a signed root over all entries',
    load: async () => (await import('./seal.ts')).seal,
  },
  {
    name: 'ledger root',
    summary: 'Show the last seal: its root, and how many entries it covers',
    load: async () => (await import('./root.ts')).root,
  },
  {
    name: 'ledger prove',
    summary: 'Write a proof of one task that anybody can check',
    load: async () => (await import('./prove.ts')).prove,
  },
  {
    name: 'ledger export',
    summary: 'Print the ledger as NDJSON that others can check',
    load: async () => (await import('./export.ts')).exportCommand,
  },
];
