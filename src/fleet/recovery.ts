import { setTimeout as delay } from 'node:timers/promises';
import { sameBytes } from '../ledger/format/bytes.ts';
import { GENESIS } from '../ledger/format/chain.ts';
import type { OpenChain } from '../ledger/postgres/generation.ts';
import { catchProblem, openGeneration, StaleSession } from '../ledger/postgres/open-chain.ts';
import type { UncheckedChain } from '../ledger/postgres/postgres-store.ts';
import { forked, PostgresProblem, storeClosed } from '../ledger/postgres/problems.ts';
import { appendMissing, putBlobsOf } from '../ledger/replica/copy.ts';
import { findHash, type Head, isStoreUnavailable, type Store } from '../ledger/store.ts';
import { nodeSha256 } from '../ledger/writer/keys.ts';
import { decideRecovery, type ReplicaReport, type Verdict } from './plan/decide-recovery.ts';
import { type ChainView, lookAtChain, reportReplica } from './replica-reports.ts';

/** What the recovery of a project's chain needs from this host (see `README.md`). */
export interface HostOfProject {
  readonly host: string;
  /** This host's own copy of the chain; undefined if it has none yet. */
  readonly replica: Store | undefined;
  /** The hosts that may hold entries lost by the database; undefined while this host does not know them. */
  readonly admitted: () => readonly string[] | undefined;
}

/** Compares the replica with the chain of a new server, together with the other hosts, and opens the chain. */
export function recoverChain(connect: () => UncheckedChain, host: HostOfProject): OpenChain {
  return async (generation, signal) => {
    const chain = connect();
    try {
      return await catchProblem(() => recover(chain, host, generation, signal));
    } finally {
      await chain.store.close();
    }
  };
}

const POLL_MS = 100;

async function recover(
  chain: UncheckedChain,
  host: HostOfProject,
  generation: string,
  signal: AbortSignal,
): Promise<PostgresProblem | undefined> {
  while (!signal.aborted) {
    try {
      const step = await takeStep(chain, host, generation);
      if (step !== 'again') return step;
    } catch (error) {
      // The server is unavailable again. The next one to answer may be another server.
      if (!isStoreUnavailable(error)) throw error;
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return storeClosed();
}

/** Returns undefined once the chain is open, or the problem that stops all hosts. */
async function takeStep(
  chain: UncheckedChain,
  { host, replica, admitted }: HostOfProject,
  generation: string,
): Promise<PostgresProblem | 'again' | undefined> {
  const { connection, project } = chain;
  const head = (await replica?.head()) ?? GENESIS;
  const view = await lookAtChain(connection, project, head.size);
  if (view.server !== generation) throw new StaleSession();
  const verdict = await judge(replica, head, view);
  const own = { host, generation, head };
  if (view.opened === generation && verdict !== 'forked') {
    if (view.forked.includes(host)) await reportReplica(connection, project, { ...own, verdict });
    const others = view.forked.filter((name) => name !== host && admitted()?.includes(name) !== false);
    return others.length > 0 ? forkedFrom(others) : joinLate(chain, replica, verdict);
  }

  const { reports, hosts } = await reportReplica(connection, project, { ...own, verdict });
  const expected = admitted() ?? hosts;
  // A removed host may still reach the database. Its report neither completes the chain nor stops the other hosts.
  const counted = reports.filter((report) => report.host === host || expected.includes(report.host));
  const next = decideRecovery(counted, expected);
  if (next.kind === 'forked') return forkedFrom(next.hosts);
  if (next.kind === 'open')
    await openGeneration(connection, project, { from: view.opened, to: generation, hosts: [host, ...expected] });
  if (next.kind !== 'complete' || replica === undefined || verdict !== 'longer') return 'again';
  // Before anything is written, checks that the longest replica contains all the others.
  const stranger = next.host === host ? await findStranger(replica, counted) : undefined;
  if (stranger !== undefined) {
    await reportReplica(connection, project, { ...own, verdict: 'forked' });
    return forked(`the replicas of ${host} and ${stranger} have diverged`);
  }
  await putBack(chain, replica, next.host === host, view.head.size);
  return 'again';
}

async function judge(replica: Store | undefined, head: Head, view: ChainView): Promise<Verdict> {
  if (replica === undefined || head.size === 0) return 'contained';
  if (view.hashAt !== undefined) return sameBytes(view.hashAt, head.hash) ? 'contained' : 'forked';
  if (view.head.size === 0) return 'longer';
  const own = await findHash(replica, view.head.size);
  return own !== undefined && sameBytes(own, view.head.hash) ? 'longer' : 'forked';
}

function forkedFrom(hosts: readonly string[]): PostgresProblem {
  return forked(`the replicas of ${hosts.join(', ')} and the chain have diverged`);
}

/**
 * Handles a host that comes back after the others opened the chain. Its own entries are appended only if nobody has
 * written since.
 */
async function joinLate(
  chain: UncheckedChain,
  replica: Store | undefined,
  verdict: Verdict,
): Promise<'again' | undefined> {
  if (replica === undefined || verdict === 'contained') return undefined;
  await putBack(chain, replica, true, (await chain.store.head()).size);
  return 'again';
}

/** Every host adds the blobs that only it has; one host appends the entries. */
async function putBack({ store }: UncheckedChain, replica: Store, isLongest: boolean, size: number): Promise<void> {
  if (!isLongest) return putBlobsOf(replica, store, size + 1);
  const put = await appendMissing(store, replica, { sha256: nodeSha256 });
  if (!put.ok) throw new PostgresProblem(put.problem);
}

async function findStranger(replica: Store, reports: readonly ReplicaReport[]): Promise<string | undefined> {
  for (const { host, size, hash, verdict } of reports) {
    if (verdict !== 'longer') continue;
    const own = await findHash(replica, size);
    if (own === undefined || Buffer.from(own).toString('hex') !== hash) return host;
  }
  return undefined;
}
