/**
 * `baton/client`: a daemon, asked from a program. The operations are those of the HTTP API and of the MCP server; the
 * daemon is started where none runs.
 */
export type { Answer, ApiError, FileProblem } from './answer.ts';
export type { CallOptions, Client, ClientOptions } from './client/client.ts';
export type { ConnectOptions } from './client/connect.ts';
export { connect, createClient } from './client/connect.ts';
export type { EventsOptions, StreamedEntry } from './client/read-events.ts';
