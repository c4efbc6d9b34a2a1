import { requireBytes, requireNumber, requireText } from '../ledger/columns.ts';
import { GENESIS } from '../ledger/format/chain.ts';
import type { PostgresConnection } from '../ledger/postgres/connection.ts';
import { sql, toBuffer } from '../ledger/postgres/statement.ts';
import type { Head } from '../ledger/store.ts';
import type { ReplicaReport, Verdict } from './plan/decide-recovery.ts';

/** The chain of the server, compared with a replica of `size` entries. */
export interface ChainView {
  readonly server: string;
  /** The server on which the chain was last opened. */
  readonly opened: string;
  readonly head: Head;
  /** The hash of the chain's entry with the number of the replica's newest entry; undefined if the chain is shorter. */
  readonly hashAt: Uint8Array | undefined;
  /** The hosts that have reported a fork. */
  readonly forked: readonly string[];
}

export async function lookAtChain(connection: PostgresConnection, project: number, size: number): Promise<ChainView> {
  const [row] = await connection.query(LOOK, [project, size]);
  const length = requireNumber(row, 'size');
  const forked: readonly string[] = JSON.parse(requireText(row, 'forked'));
  return {
    server: requireText(row, 'server'),
    opened: requireText(row, 'opened'),
    head: length === 0 ? GENESIS : { size: length, hash: requireBytes(row, 'hash') },
    hashAt: row?.['hash_at'] === null ? undefined : requireBytes(row, 'hash_at'),
    forked,
  };
}

export interface OwnReport {
  readonly host: string;
  readonly generation: string;
  readonly head: Head;
  readonly verdict: Verdict;
}

export interface AllReports {
  readonly reports: readonly ReplicaReport[];
  /** The hosts that are recorded in this database. */
  readonly hosts: readonly string[];
}

export async function reportReplica(
  connection: PostgresConnection,
  project: number,
  { host, generation, head, verdict }: OwnReport,
): Promise<AllReports> {
  const values = [project, host, generation, head.size, toBuffer(head.hash), verdict];
  const [row] = await connection.query(REPORT, values);
  const sent: readonly SentReport[] = JSON.parse(requireText(row, 'reports'));
  const hosts: readonly string[] = JSON.parse(requireText(row, 'hosts'));
  const reports = sent.map(({ since_ms: sinceMs, silent_ms: silentMs, ...same }) => ({ ...same, sinceMs, silentMs }));
  return { reports, hosts };
}

/** A report as `baton.report_replica` builds it. */
interface SentReport {
  readonly host: string;
  readonly size: number;
  readonly hash: string;
  readonly verdict: Verdict;
  readonly since_ms: number;
  readonly silent_ms: number;
}

export interface ForkReport {
  readonly host: string;
  readonly size: number;
  /** Milliseconds since the host last reported. */
  readonly silentMs: number;
}

/** The hosts whose replicas differ from the chain, which stops all writes. */
export async function forkReports(connection: PostgresConnection, project: number): Promise<readonly ForkReport[]> {
  const rows = await connection.query(FORKS, [project]);
  return rows.map((row) => ({
    host: requireText(row, 'host'),
    size: requireNumber(row, 'size'),
    silentMs: requireNumber(row, 'silent_ms'),
  }));
}

/**
 * Drops the fork report of a host. The operator has chosen the chain over that host's replica, for example because the
 * host is gone for good.
 */
export async function dropForkReport(connection: PostgresConnection, project: number, host: string): Promise<void> {
  await connection.query(DROP_FORK, [project, host]);
}

const FORKS = sql('fork_reports')`
  SELECT host, size, (extract(epoch FROM clock_timestamp() - at) * 1000)::bigint AS silent_ms
  FROM baton.replica_report
  WHERE project = $1 AND verdict = 'forked' AND generation = baton.server_generation() ORDER BY host`;
const DROP_FORK = sql('drop_fork_report')`
  DELETE FROM baton.replica_report WHERE project = $1 AND host = $2 AND verdict = 'forked'`;

const LOOK = sql('look_at_chain')`SELECT server, opened, size, hash, hash_at, forked FROM baton.look_at_chain($1, $2)`;
const REPORT = sql('report_replica')`
  SELECT reports, hosts FROM baton.report_replica($1, $2, $3, $4, $5, $6)`;
