import type { Entry } from '../../../src/ledger/format/entry.ts';
import { textOf } from '../../processes/ledger.ts';

export interface Claim {
  readonly taskId: string;
  readonly epoch: number;
  readonly host: string;
}

/** Returns every granted claim. */
export function claimsOf(entries: readonly Entry[]): Claim[] {
  return entries.flatMap(({ type, data }) =>
    type === 'TaskClaimed'
      ? [{ taskId: textOf(data, 'task_id'), epoch: Number(data['epoch']), host: textOf(data, 'host') }]
      : [],
  );
}

/** Returns the claims that expired without renewal. */
export function expiredOf(entries: readonly Entry[]): Pick<Claim, 'taskId' | 'epoch'>[] {
  return entries.flatMap(({ type, data }) =>
    type === 'ClaimExpired' ? [{ taskId: textOf(data, 'task_id'), epoch: Number(data['epoch']) }] : [],
  );
}
