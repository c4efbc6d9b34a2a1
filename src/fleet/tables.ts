import { requireNumber, requireText } from '../ledger/columns.ts';
import type { PostgresConnection } from '../ledger/postgres/connection.ts';
import { type Row, sql } from '../ledger/postgres/statement.ts';
import {
  type BeatAnswer,
  type CaretakerLease,
  HOST_NAME,
  type HostBeat,
  type HostRow,
  type JoinRequest,
} from '../protocol/fleet.ts';

/**
 * The data that the hosts of one project share besides the ledger. Each method rejects with a `PostgresProblem` while
 * the database is unavailable.
 */
export interface FleetTables {
  /** Reports this host, renews its leases, and takes or keeps the caretaker's lease, in one round trip. */
  beat(beat: HostBeat): Promise<BeatAnswer>;
  /** Requests to join. A repeated request replaces the earlier one of the same key. */
  requestJoin(request: JoinRequest): Promise<void>;
  joinRequests(): Promise<readonly JoinRequest[]>;
  dropJoinRequest(host: string): Promise<void>;
  /** Deletes a removed host, so that its name can be used again. */
  forgetHost(host: string): Promise<void>;
}

export function makeFleetTables(connection: PostgresConnection, project: number): FleetTables {
  return {
    async beat(beat) {
      const [row] = await connection.query(BEAT, [
        project,
        beat.host,
        beat.key,
        beat.version,
        beat.level,
        beat.size,
        Buffer.from(beat.hash, 'hex'),
        beat.offsetMs,
        beat.waiting,
        String(beat.mayCare),
        beat.careMs,
        beat.graceMs,
        beat.term,
        JSON.stringify(beat.leases.map(({ taskId, epoch, remainingMs }) => ({ task: taskId, epoch, ms: remainingMs }))),
        beat.claims &&
          JSON.stringify(
            beat.claims.map(({ taskId, epoch, host, expiryMs }) => ({ task: taskId, epoch, host, ms: expiryMs })),
          ),
      ]);
      return readAnswer(row);
    },
    async requestJoin({ host, publicKey, labels, agents, rootCommit }) {
      await connection.query(REQUEST_JOIN, [project, host, publicKey, JSON.stringify(labels), agents, rootCommit]);
    },
    async joinRequests() {
      return (await connection.query(JOIN_REQUESTS, [project])).flatMap((row) => readJoinRequest(row) ?? []);
    },
    async dropJoinRequest(host) {
      await connection.query(DROP_JOIN_REQUEST, [project, host]);
    },
    async forgetHost(host) {
      await connection.query(FORGET_HOST, [project, host]);
    },
  };
}

function readAnswer(row: Row | undefined): BeatAnswer {
  return {
    nowMs: Number(requireText(row, 'now_ms')),
    generation: requireText(row, 'server'),
    caretaker: readCaretaker(row),
    hosts: readHosts(requireText(row, 'hosts')),
    expired: readClaims(requireText(row, 'expired')),
    refused: readClaims(requireText(row, 'refused')),
    joining: requireNumber(row, 'joining'),
    forked: requireText(row, 'forked') === 'true',
  };
}

function readCaretaker(row: Row | undefined): CaretakerLease | null {
  return row?.['care_host'] === null
    ? null
    : { host: requireText(row, 'care_host'), term: requireNumber(row, 'care_term') };
}

/** The hosts as `baton.beat` builds them. */
interface SentHost {
  readonly host: string;
  readonly key: string;
  readonly version: string;
  readonly level: number;
  readonly size: number;
  readonly offset_ms: number;
  readonly waiting: number;
  readonly silent_ms: number;
}

interface SentClaim {
  readonly task: string;
  readonly epoch: number;
}

function readHosts(text: string): readonly HostRow[] {
  const sent: readonly SentHost[] = JSON.parse(text);
  return sent.map(({ offset_ms: offsetMs, silent_ms: silentMs, ...same }) => ({ ...same, offsetMs, silentMs }));
}

function readClaims(text: string): BeatAnswer['expired'] {
  const sent: readonly SentClaim[] = JSON.parse(text);
  return sent.map(({ task, epoch }) => ({ taskId: task, epoch }));
}

/** Undefined if the row is not one that `host join` writes: every daemon's database role can insert such rows. */
function readJoinRequest(row: Row): JoinRequest | undefined {
  const host = requireText(row, 'host');
  const labels: unknown = JSON.parse(requireText(row, 'labels'));
  if (!HOST_NAME.test(host) || !Array.isArray(labels)) return undefined;
  return {
    host,
    publicKey: requireText(row, 'public_key'),
    labels: labels.map(String),
    agents: requireNumber(row, 'agents'),
    rootCommit: requireText(row, 'root_commit'),
  };
}

const BEAT = sql('beat')`
  SELECT now_ms, server, care_host, care_term, hosts, expired, refused, joining, forked::text
  FROM baton.beat($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;

const REQUEST_JOIN = sql('request_join')`
  SELECT baton.request_join($1, $2, $3, $4, $5, $6)`;

const JOIN_REQUESTS = sql('join_requests')`
  SELECT host, public_key, labels, agents, root_commit FROM baton.join_request
  WHERE project = $1 AND octet_length(public_key || labels::text || root_commit) < 10000 ORDER BY at, host LIMIT 1000`;

const DROP_JOIN_REQUEST = sql('drop_join_request')`
  DELETE FROM baton.join_request WHERE project = $1 AND host = $2`;

const FORGET_HOST = sql('forget_host')`SELECT baton.forget_host($1, $2)`;
