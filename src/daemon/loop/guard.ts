import type { Refusal } from '../../state/outcome.ts';
import { INTERNAL_ERROR } from '../http/refusals.ts';

type Guarded<A> = { readonly ok: true; readonly answer: A } | { readonly ok: false; readonly refusal: Refusal };
export type Guard = <A>(call: () => A) => Guarded<A>;

/** Wraps callbacks: one that throws fails only its own request, and the other requests of the commit are answered. */
export function makeGuard(onInternalError: (error: unknown) => void): Guard {
  return (call) => {
    try {
      return { ok: true, answer: call() };
    } catch (error) {
      onInternalError(error);
      return { ok: false, refusal: INTERNAL_ERROR };
    }
  };
}
