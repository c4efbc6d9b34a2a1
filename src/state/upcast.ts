import type { ViolationKind } from '../protocol/violation.ts';
import type { JsonObject } from '../ledger/format/canonical-json.ts';
import type { Entry } from '../ledger/format/entry.ts';
import type { MoveCause } from './move-cause.ts';

/**
 * Entries written before causes were typed, read as entries of today. This table is the only place that derives meaning from text, and
 * it applies only to an entry that has no typed field. It checks who wrote the entry, because sessions chose the text of theirs.
 */
const CAUSE_PATTERNS: readonly { readonly actor: string; readonly reason: string; readonly cause: MoveCause }[] = [
  { actor: 'operator:', reason: 'cancelled: ', cause: 'cancelled' },
  { actor: 'operator:', reason: 'waived: ', cause: 'waived' },
  { actor: 'system:', reason: 'decision: ', cause: 'decision' },
  { actor: 'system:', reason: 'merge refused: ', cause: 'merge-refused' },
  { actor: 'system:', reason: 'merge failed: ', cause: 'merge-failed' },
  { actor: 'system:', reason: 'merged as ', cause: 'merged' },
  { actor: 'system:', reason: 'check failed: ', cause: 'checks' },
  { actor: 'system:', reason: 'all required checks passed', cause: 'checks' },
  { actor: 'system:', reason: 'no pull request: ', cause: 'publish-failed' },
];

/** Baton measured these and wrote every one of them with the constraint's name first. */
const VIOLATIONS: readonly ViolationKind[] = ['max_files', 'no_git_commit', 'no_new_deps', 'files_modified', 'timeout'];

/** The data of an entry, with the typed fields that entries of its type have today. */
export function upcast({ type, actor, data }: Pick<Entry, 'type' | 'actor' | 'data'>): JsonObject {
  if (type === 'PhaseMoved' && data['cause'] === undefined)
    return { ...data, cause: deriveCause(actor, data['reason']) };
  if (type === 'SessionMeasured' && data['broken'] === undefined)
    return { ...data, broken: deriveViolations(data['violations']) };
  // Claims were kept apart by the name that they showed: see `isOneOf`.
  if (type === 'TaskClaimed' && data['principal'] === undefined) return { ...data, principal: data['holder'] ?? '' };
  return data;
}

function deriveCause(actor: string, reason: unknown): MoveCause {
  const text = typeof reason === 'string' ? reason : '';
  const known = CAUSE_PATTERNS.find((each) => actor.startsWith(each.actor) && text.startsWith(each.reason));
  return known?.cause ?? 'unrecorded';
}

function deriveViolations(violations: unknown): ViolationKind[] {
  const texts = Array.isArray(violations) ? violations.map(String) : [];
  return VIOLATIONS.filter((kind) => texts.some((text) => text.startsWith(`${kind}: `)));
}
