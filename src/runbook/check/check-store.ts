import { problem } from '../../protocol/shape/problem.ts';
import { positionIn } from '../read/join-files.ts';
import type { ReadRunbook } from '../read/read-runbook.ts';
import type { RunbookProblem } from '../runbook.ts';

/** Said wherever somebody would rely on it: two daemons that each kept a ledger of their own would grant the same task twice. */
export const STORE_NOT_OFFERED = {
  message: 'the runbook wants the ledger on a PostgreSQL server, which the daemon does not offer yet',
  hint: 'Remove `store`: the ledger is then in the state folder, and one daemon works on it.',
} as const;

/** A runbook that is otherwise fine, and that no daemon takes. */
export function checkStore({ subject, checked }: Pick<ReadRunbook, 'subject' | 'checked'>): readonly RunbookProblem[] {
  if (!checked.ok || checked.value.store === undefined) return [];
  const { message, hint } = STORE_NOT_OFFERED;
  const place = positionIn(subject.files, subject.placeOf(['store']));
  return [{ ...problem('runbook/store-not-offered', message, hint), path: 'store', ...place }];
}
