import { prepareDraft } from '../../ledger/format/draft.ts';
import type { Refusal } from '../../state/outcome.ts';
import type { DecidedRequest } from './trial.ts';

/** Why no ledger of this size could record what one request wants; undefined where one could. */
export function findUnrecordable(
  { drafts, from }: DecidedRequest,
  size: number,
  secrets: readonly string[],
): Refusal | undefined {
  for (const [i, draft] of drafts.entries()) {
    const prepared = prepareDraft(draft, { position: from + i, size, secrets });
    if (prepared.ok) continue;
    const [{ code, message }] = prepared.problems;
    if (code === 'ledger/entry-too-large') return { code: 'too-large', message, hint: SEND_LESS };
    return { code: 'bad-request', message, hint: 'Whole numbers, valid text, and not too deep: see docs/api.md' };
  }
  return undefined;
}

const SEND_LESS = 'Say less, or name a file instead of sending its content.';
