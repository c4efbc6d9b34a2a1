import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';

export interface ClockFacts {
  readonly nowMs: number;
  /** When the newest entry was recorded; null if unknown. */
  readonly newestAt: string | null;
  /** This machine's clock minus the database's; null on SQLite, or if the database does not answer. */
  readonly offsetMs: number | null;
}

export const clockCheck = defineCheck('clock', 'The clock of this machine, against the newest entry and the database', {
  right: ok('The clock is not behind the newest entry, and agrees with the database'),
  behind: problem('The clock is behind the newest entry: it was set back, or was ahead then'),
  drift: warning("The clock differs from the database's; Baton corrects its own times meanwhile"),
});

export function diagnoseClock({ nowMs, newestAt, offsetMs }: ClockFacts): readonly Diagnosis[] {
  const found: Diagnosis[] = [];
  // Entries on PostgreSQL have the database's time.
  const aheadMs = newestAt === null ? 0 : Date.parse(newestAt) - (nowMs - (offsetMs ?? 0));
  if (aheadMs > TOLERATED_MS) {
    const detail = `the newest entry is of ${newestAt}, ${renderSpan(aheadMs)} in the future`;
    const fix = SET_CLOCK;
    found.push(clockCheck.found('behind', { detail, fix }));
  }
  if (offsetMs !== null && Math.abs(offsetMs) > TOLERATED_MS) {
    const side = offsetMs > 0 ? 'ahead of' : 'behind';
    const detail = `the clock is ${renderSpan(Math.abs(offsetMs))} ${side} that of the database`;
    found.push(clockCheck.found('drift', { detail, fix: SET_CLOCK }));
  }
  if (found.length > 0) return found;
  const compared = [
    ...(newestAt === null ? [] : ['after the newest entry']),
    ...(offsetMs === null ? [] : [`${offsetMs} ms from the database`]),
  ];
  const now = new Date(nowMs).toISOString();
  return [clockCheck.found('right', { detail: [now, ...compared].join(', ') })];
}

const SET_CLOCK = 'Set the clock, or let the system keep it: timedatectl set-ntp true';
const TOLERATED_MS = 2000;

function renderSpan(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
