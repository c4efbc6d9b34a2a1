import { findPlaceholder } from '../../protocol/placeholder.ts';
import { refusal } from '../outcome.ts';
import type { RuleCheck } from './writeback.ts';

/** A form that was sent as Baton wrote it reports nothing: records, results and handoffs are refused until it is filled in. */
export function checkFilledIn(what: 'record' | 'result' | 'handoff', message: unknown): RuleCheck {
  const path = findPlaceholder(message);
  if (path === undefined) return { ok: true };
  const text = `the field ${path} of the ${what} still holds the placeholder of the form`;
  return refusal(
    'placeholder',
    text,
    `Fill in ${path}, or remove it if it is an item of a list, then send the ${what} again.`,
  );
}
