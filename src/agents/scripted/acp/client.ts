import type { RpcConnection } from '../../../acp/connection.ts';
import type { SessionUpdate } from '../../../acp/messages.ts';
import { type Fields, fieldsOf } from '../../../protocol/shape/read-unknown.ts';

/** The client of one session. */
export interface AcpClient {
  readonly capabilities: ClientCapabilities;
  update(update: SessionUpdate): void;
  /** Rejects with `RpcError` if the client refuses. */
  request(method: string, params: object): Promise<Fields>;
  /** Sends a line unchecked. */
  write(line: string): void;
  /** The id of the latest prompt request. */
  promptId(): unknown;
}

export interface ClientCapabilities {
  readonly canRead: boolean;
  readonly canWrite: boolean;
  readonly hasTerminals: boolean;
}

export function readCapabilities(params: Fields): ClientCapabilities {
  const { fs, terminal } = fieldsOf(params['clientCapabilities']);
  const { readTextFile, writeTextFile } = fieldsOf(fs);
  return { canRead: readTextFile === true, canWrite: writeTextFile === true, hasTerminals: terminal === true };
}

export function clientOf(
  connection: RpcConnection,
  sessionId: string,
  rest: Pick<AcpClient, 'capabilities' | 'write' | 'promptId'>,
): AcpClient {
  return {
    ...rest,
    update: (update) => connection.notify('session/update', { sessionId, update }),
    request: async (method, params) => fieldsOf(await connection.request(method, { sessionId, ...params })),
  };
}

/** Resolves to the result of `work`, or to `cancelled` as soon as the signal aborts. */
export async function orCancelled<T>(work: Promise<T>, signal: AbortSignal): Promise<T | 'cancelled'> {
  if (signal.aborted) return 'cancelled';
  let cancel = (): void => {};
  const cancelled = new Promise<'cancelled'>((resolve) => {
    cancel = () => resolve('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
  });
  return Promise.race([work, cancelled]).finally(() => signal.removeEventListener('abort', cancel));
}
