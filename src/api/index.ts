/** `batonctl/client`: calls the operations of a daemon, and starts one if none runs. */
export type { Answer, ApiError, FileProblem } from './answer.ts';
export type { CallOptions, Client, ClientOptions, Health } from './client/client.ts';
export type { ConnectOptions } from './client/connect.ts';
export type { InputOf, OperationName, ResultOf } from './operations/registry.ts';
export { connect, createClient } from './client/connect.ts';
export type { EventsOptions, StreamedEntry } from './client/read-events.ts';
