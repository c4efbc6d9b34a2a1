import { BODY_LIMITS } from '../api/http/request.ts';

/** All limits of the daemon's listeners. A request over a limit gets an error, and nothing is lost. */
export const SERVER_LIMITS = {
  ...BODY_LIMITS,
  /** All headers of a request. */
  headerBytes: 16 * 1024,
  /** How long the headers of a request may take to arrive. */
  headersTimeoutMs: 10_000,
  /** How long a whole request may take to arrive. */
  requestTimeoutMs: 30_000,
  /** How long an idle connection stays open. */
  keepAliveMs: 120_000,
  /** Open connections; fewer if the process may open fewer descriptors. */
  connections: 4096,
  /** Requests in progress on all connections. */
  requestsTogether: 8192,
  /** Requests in progress on one connection. */
  requestsPerConnection: 128,
  /** Open calls on one channel. */
  callsPerChannel: 1024,
  /** Requests of one session at once, and per second: those that only read. */
  sessionReads: 100,
  sessionReadsPerSecond: 20,
  /** Messages of one session at once, and per second: everything that is recorded. */
  sessionWrites: 40,
  sessionWritesPerSecond: 2,
  /** Bytes of these messages at once, and per second. */
  sessionBytes: 8 * 1024 * 1024,
  sessionBytesPerSecond: 16 * 1024,
  /** Signals with which a session ends or stays alive, at once and per second. */
  sessionEndings: 100,
  sessionEndingsPerSecond: 5,
  /** How long a session that sends too much waits for each refusal, and how many of its calls wait at once. */
  sessionPauseMs: 250,
  sessionPauses: 16,
  /** Characters of an idempotency key. */
  idempotencyKeyLength: 128,
  /** MCP sessions over HTTP. A new one replaces the one that was silent for longest. */
  mcpSessions: 1000,
  /** Event streams open at once. */
  eventStreams: 512,
  /** Unsent bytes of one event stream. Above this, the reader must catch up first. */
  streamBytes: 1024 * 1024,
  /** A reader that receives nothing for this long is disconnected. It can resume. */
  streamStallMs: 30_000,
  /** The newest entries kept in memory for streams. Older ones are read from the store. */
  entriesAtHand: 1024,
  /** How often an idle event stream sends a comment, so that proxies keep it open. */
  streamPulseMs: 15_000,
  /** How often the daemon sends a heartbeat to a page. */
  pagePulseMs: 1000,
  /** How long a stopping daemon waits for running requests. */
  settleMs: 10_000,
  /** How long the answer to a stop request may take to be sent. */
  farewellMs: 1000,
  /** How often the daemon checks that the state folder is still its own. */
  folderCheckMs: 2000,
  /** The size of `daemon.log`; then a new file begins, and one old file is kept. */
  logBytes: 5 * 1024 * 1024,
  /** Further lines in the same second are dropped. */
  logLinesPerSecond: 100,
  /** How long `status_get` may take. */
  statusMs: 3500,
  /** How long the operator's SDK may take to send its last data when the daemon stops. */
  telemetryFlushMs: 3000,
  /** How long the repository of a path is cached before git is asked again. */
  repositoryMs: 30_000,
} as const;
