import { BODY_LIMITS } from '../api/http/request.ts';

/** Every limit of the daemon's listeners, in one place. Reaching one is a clear error, and nothing is lost. */
export const SERVER_LIMITS = {
  ...BODY_LIMITS,
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  /** An idle connection is kept this long. */
  keepAliveMs: 120_000,
  /** Fewer if the process may have fewer descriptors: see `seats.ts`. */
  connections: 4096,
  /** Requests under way, those that wait for work included. */
  requestsTogether: 8192,
  requestsPerConnection: 128,
  /** Calls under way on one channel. */
  callsPerChannel: 1024,
  idempotencyKeyLength: 128,
  /** Sessions of MCP clients over HTTP; the one that was silent longest makes room for a new one. */
  mcpSessions: 1000,
  /** Streams of events, all together. */
  eventStreams: 512,
  /** What is waiting to be sent on one stream of events; then the reader must catch up first. */
  streamBytes: 1024 * 1024,
  /** A reader that takes nothing for this long is cut off; it can resume where it was. */
  streamStallMs: 30_000,
  /** Newest entries kept at hand for streams; whoever is further behind reads from the store. */
  entriesAtHand: 1024,
  /** A line of silence this often tells both sides of a stream that the other one lives. */
  streamPulseMs: 15_000,
  /** How long stopping waits for what is under way. */
  settleMs: 10_000,
  /** How long the last answer may take to reach who asked for the end. */
  farewellMs: 1000,
  /** How often the daemon looks whether its folder is still its own. */
  folderCheckMs: 2000,
  logBytes: 5 * 1024 * 1024,
  logLinesPerSecond: 100,
  /** How long status may take before it answers that the project is busy. */
  statusMs: 3500,
  /** How long a path is remembered to belong to a repository before git is asked again. */
  repositoryMs: 30_000,
} as const;
