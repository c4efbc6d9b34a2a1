import type { Problem } from '../protocol/problem.ts';
import type { Verifier } from './crypto.ts';
import type { Entry } from './entry.ts';
import { walkAll } from './recognize.ts';
import type { Store } from './store.ts';
import type { Keyring } from './trust.ts';
import { walkOn } from './walk-on.ts';
import { Walk, type Position } from './walk.ts';

export interface Followed {
  readonly store: Store;
  readonly verifier: Verifier;
  readonly project: string;
}

export type News =
  | { readonly ok: true; readonly entries: readonly Entry[]; readonly position: Position; readonly keyring: Keyring }
  | { readonly ok: false; readonly problem: Problem };

/** Reads and checks what others have recorded after a position. */
export async function readNews(what: Followed, from: Position, keyring: Keyring): Promise<News> {
  const news = await walkNews(what, from, keyring);
  if (news.ok || news.problem.code !== 'ledger/wrong-signature') return news;
  // Signed by another machine, whose key was added before this one looked: only the whole history names it.
  const whole = await walkAll(what);
  return whole.ok ? walkNews(what, from, whole.keyring) : whole;
}

async function walkNews(what: Followed, from: Position, keyring: Keyring): Promise<News> {
  const entries: Entry[] = [];
  const walk = new Walk(what.verifier, what.project, keyring, from);
  const fault = await walkOn(what.store, walk, (batch) => {
    entries.push(...batch);
  });
  return fault ? { ok: false, problem: fault.problem } : { ok: true, entries, position: walk.position, keyring };
}
