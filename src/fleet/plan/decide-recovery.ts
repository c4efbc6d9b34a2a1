/** What a host found when it compared its replica with the chain of a server that was replaced or restarted. */
export type Verdict =
  /** The chain has the newest entry of the replica. */
  | 'contained'
  /** The chain is a prefix of the replica: the server has lost entries. */
  | 'longer'
  /** Both have entries that the other one lacks. */
  | 'forked';

export interface ReplicaReport {
  readonly host: string;
  readonly size: number;
  /** In hexadecimal. */
  readonly hash: string;
  readonly verdict: Verdict;
  /** Milliseconds since the host first reported about this server. */
  readonly sinceMs: number;
  /** Milliseconds since the host last reported. */
  readonly silentMs: number;
}

export type RecoveryStep =
  | { readonly kind: 'wait' }
  /** This host appends the entries that the chain lacks. */
  | { readonly kind: 'complete'; readonly host: string }
  | { readonly kind: 'open' }
  | { readonly kind: 'forked'; readonly hosts: readonly string[] };

/** How long the hosts wait for a missing report, counted from the latest first report. */
const WAIT_FOR_HOSTS_MS = 10_000;
/** A host whose last report is older than this cannot complete the chain. */
const REPORT_LASTS_MS = 10_000;

/**
 * Decides the next step. All hosts reach the same decision from the same reports. A reported fork always stops them.
 */
export function decideRecovery(reports: readonly ReplicaReport[], expected: readonly string[]): RecoveryStep {
  const forked = findForked(reports);
  if (forked.length > 0) return { kind: 'forked', hosts: forked };
  const live = reports.filter(({ silentMs }) => silentMs < REPORT_LASTS_MS);
  if (live.length === 0 || !haveAllReported(live, expected)) return { kind: 'wait' };
  const [longest] = live
    .filter(({ verdict }) => verdict === 'longer')
    .toSorted((a, b) => b.size - a.size || (a.host < b.host ? -1 : 1));
  return longest === undefined ? { kind: 'open' } : { kind: 'complete', host: longest.host };
}

function haveAllReported(live: readonly ReplicaReport[], expected: readonly string[]): boolean {
  const isAll = expected.every((host) => live.some((report) => report.host === host));
  return isAll || Math.min(...live.map(({ sinceMs }) => sinceMs)) >= WAIT_FOR_HOSTS_MS;
}

/** Two replicas of equal length that are longer than the chain and differ are a fork too. */
function findForked(reports: readonly ReplicaReport[]): string[] {
  const longer = reports.filter(({ verdict }) => verdict === 'longer');
  const differs = ({ size, hash }: ReplicaReport): boolean =>
    longer.some((other) => other.size === size && other.hash !== hash);
  return reports
    .filter((report) => report.verdict === 'forked' || (report.verdict === 'longer' && differs(report)))
    .map(({ host }) => host);
}
