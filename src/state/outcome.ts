import type { Event } from './event.ts';

/** What a command comes to: entries to record and an answer, or a refusal that changes nothing. */
export type Outcome<A> =
  | { readonly ok: true; readonly events: readonly Event[]; readonly answer: A }
  | { readonly ok: false; readonly refusal: Refusal };

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export function decided<A>(events: readonly Event[], answer: A): Outcome<A> {
  return { ok: true, events, answer };
}

export function refusal(
  code: string,
  message: string,
  hint: string,
): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { code, message, hint } };
}
