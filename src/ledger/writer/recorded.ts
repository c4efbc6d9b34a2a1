import type { Problem } from '../../protocol/shape/problem.ts';
import type { LinkedEntry } from '../format/chain.ts';
import type { Head } from '../store.ts';

/** What became of an append. */
export type AppendResult = { readonly ok: true; readonly entries: readonly LinkedEntry[] } | AppendRefusal;

/** A conflict means: somebody else was first, the ledger has caught up, decide again. */
export type AppendRefusal =
  | { readonly ok: false; readonly conflict: Head }
  | { readonly ok: false; readonly problem: Problem };
