import type { ListedCommand } from '../command.ts';

/** The record and its proofs. */
export const LEDGER_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'ledger log',
    summary: 'Show what was recorded',
    load: async () => (await import('./log.ts')).log,
  },
  {
    name: 'ledger show',
    summary: 'Show one entry in full',
    load: async () => (await import('./show.ts')).show,
  },
  {
    name: 'ledger verify',
    summary: 'Check the whole record: chain, hashes, signatures, tree, outside checkpoint, snapshot',
    load: async () => (await import('./verify.ts')).verify,
  },
  {
    name: 'ledger seal',
    summary: 'Record a signed root over everything so far',
    load: async () => (await import('./seal.ts')).seal,
  },
  {
    name: 'ledger root',
    summary: 'Show the last seal: its root, and how much of the record it covers',
    load: async () => (await import('./root.ts')).root,
  },
  {
    name: 'ledger prove',
    summary: 'Write everything about a task into one file that anybody can check',
    load: async () => (await import('./prove.ts')).prove,
  },
  {
    name: 'ledger export',
    summary: 'Print the whole record as NDJSON that others can check',
    load: async () => (await import('./export.ts')).exportCommand,
  },
];
