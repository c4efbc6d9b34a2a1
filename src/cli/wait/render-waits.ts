import type { WaitedRun } from '../../api/operations/run-wait.ts';
import { EXIT } from '../command.ts';
import { renderTable } from '../table.ts';
import { shortId } from '../text.ts';

/**
 * A run that needs a person decides first, because nothing else continues by itself. With `isAny`, the first finished
 * run in the typed order decides.
 */
export function exitCodeOfWaits(waits: readonly Pick<WaitedRun, 'state'>[], isAny: boolean): number {
  const counted = isAny ? waits.filter(({ state }) => state !== 'going').slice(0, 1) : waits;
  if (counted.some(({ state }) => state === 'waiting')) return EXIT.waiting;
  return counted.length > 0 && counted.every(({ state }) => state === 'done') ? EXIT.ok : EXIT.failed;
}

export function renderWaits(waits: readonly WaitedRun[]): string {
  const rows = waits.map((run) => [
    run.kind === 'task' ? run.id : shortId(run.id),
    run.kind,
    STATES[run.state],
    run.at ?? '-',
    nextOf(run),
  ]);
  return renderTable([['ID', 'KIND', 'STATE', 'AT', 'NEXT'], ...rows]);
}

const STATES: Readonly<Record<WaitedRun['state'], string>> = {
  going: 'not done',
  waiting: 'waits for a person',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
};

function nextOf({ reason, decision_ids: [decision] }: WaitedRun): string {
  return [reason ?? '', decision === undefined ? '' : `baton decision show ${shortId(decision)}`]
    .filter((part) => part !== '')
    .join('; ');
}
