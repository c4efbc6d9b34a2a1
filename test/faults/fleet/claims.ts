import type { Entry } from '../../../src/ledger/format/entry.ts';
import { textOf } from '../../processes/ledger.ts';

export interface Claim {
  readonly taskId: string;
  readonly epoch: number;
  readonly host: string;
}

/** Every claim that was granted. */
export function claimsOf(entries: readonly Entry[]): Claim[] {
  return entries.flatMap(({ type, data }) =>
    type === 'TaskClaimed'
      ? [{ taskId: textOf(data, 'task_id'), epoch: Number(data['epoch']), host: textOf(data, 'host') }]
      : [],
  );
}

/** Claims that ended because nobody renewed them. */
export function expiredOf(entries: readonly Entry[]): Pick<Claim, 'taskId' | 'epoch'>[] {
  return entries.flatMap(({ type, data }) =>
    type === 'ClaimExpired' ? [{ taskId: textOf(data, 'task_id'), epoch: Number(data['epoch']) }] : [],
  );
}
