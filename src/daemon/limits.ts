import { BODY_LIMITS } from '../api/http/request.ts';

/** All limits of the daemon's listeners. A request over a limit gets an error, and nothing is lost. */
export const SERVER_LIMITS = {
  ...BODY_LIMITS,
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveMs: 120_000,
  /** Reduced if the process may open fewer descriptors. */
  connections: 4096,
  requestsTogether: 8192,
  requestsPerConnection: 128,
  callsPerChannel: 1024,
  idempotencyKeyLength: 128,
  /** MCP sessions over HTTP. A new one replaces the one that was silent for longest. */
  mcpSessions: 1000,
  eventStreams: 512,
  /** Unsent bytes of one event stream. Above this, the reader must catch up first. */
  streamBytes: 1024 * 1024,
  /** A reader that receives nothing for this long is disconnected. It can resume. */
  streamStallMs: 30_000,
  /** The newest entries kept in memory for streams. Older ones are read from the store. */
  entriesAtHand: 1024,
  streamPulseMs: 15_000,
  /** A page considers a daemon unavailable after five seconds without a pulse. */
  pagePulseMs: 1000,
  settleMs: 10_000,
  /** How long the answer to a stop request may take to be sent. */
  farewellMs: 1000,
  folderCheckMs: 2000,
  logBytes: 5 * 1024 * 1024,
  logLinesPerSecond: 100,
  statusMs: 3500,
  /** How long the operator's SDK may take to send the remaining telemetry when the daemon stops. */
  telemetryFlushMs: 3000,
  /** How long the repository of a path is cached before git is asked again. */
  repositoryMs: 30_000,
} as const;
