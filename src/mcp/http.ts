import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  isInitializeRequest,
  isJSONRPCRequest,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { McpConnection } from './connection.ts';

/** Makes the server for a connection; the same for both kinds of clients. */
export type ServeConnection = (connection: McpConnection, projectPath: string | undefined) => McpServer;

/** A request that has passed the guards of the daemon: its token is known, Host and Origin are right. */
export interface GuardedRequest {
  readonly request: Request;
  /** The body, parsed; absent for GET and DELETE. */
  readonly body?: unknown;
  /** A worker's or a session's. */
  readonly token: string;
  /** A folder in the repository that a worker means; a session's token names it. */
  readonly projectPath: string | undefined;
}

export interface McpHttp {
  readonly handle: (guarded: GuardedRequest) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/**
 * MCP over streamable HTTP. Clients of the 2025 revisions open a session, and what they claim belongs to it. The 2026-07-28
 * revision has no sessions: such a client brings the token of its claim with every call, as an argument.
 */
export function createMcpHttp(serve: ServeConnection, options: { readonly maxSessions: number }): McpHttp {
  const sessions = new HttpSessions(options.maxSessions);
  const modern = createMcpHandler(
    ({ authInfo }) => serve(new McpConnection(authInfo?.token), textOf(authInfo?.extra?.['projectPath'])),
    // Streams, since clients give up on a long wait in which not even a header comes.
    { legacy: 'reject', responseMode: 'sse' },
  );

  const openSession = async (guarded: GuardedRequest): Promise<Response> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.add(id, { transport, token: guarded.token }),
    });
    // Transports are no event targets: a property is all they have.
    transport.onclose = () => sessions.remove(transport.sessionId); // oxlint-disable-line unicorn/prefer-add-event-listener
    await serve(new McpConnection(guarded.token), guarded.projectPath).connect(transport);
    return serveSession(transport, guarded);
  };

  return {
    handle: async (guarded) => {
      const { request, body, token, projectPath } = guarded;
      if (!(await isLegacyRequest(request, body))) {
        const authInfo = { token, clientId: 'baton', scopes: [], extra: { projectPath } };
        return modern.fetch(request, { authInfo, ...(body === undefined ? {} : { parsedBody: body }) });
      }
      const id = request.headers.get('mcp-session-id');
      if (id === null && isInitializeRequest(body)) return openSession(guarded);
      if (id === null) return errorResponse(400, 'Bad Request: Mcp-Session-Id header is required');
      const session = sessions.find(id, token);
      if (session === undefined) return errorResponse(404, 'Session not found');
      return serveSession(session.transport, guarded);
    },
    close: async () => {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

/**
 * Answers on a stream that cannot be taken up again: when it breaks, the answer has nowhere to go, and whatever still waits
 * is called off. What was written stays written; the same request, sent again, gets its answer.
 */
async function serveSession(
  transport: WebStandardStreamableHTTPServerTransport,
  { request, body }: GuardedRequest,
): Promise<Response> {
  const callOff = (): void => {
    for (const requestId of requestIds(body)) {
      transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    }
  };
  request.signal.addEventListener('abort', callOff, { once: true });
  const response = await transport.handleRequest(request, { parsedBody: body });
  // The client may have gone before there was a listener, or anything to cancel.
  if (request.signal.aborted) callOff();
  return response;
}

function requestIds(body: unknown): (string | number)[] {
  return [body].flat().flatMap((message) => (isJSONRPCRequest(message) ? [message.id] : []));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function errorResponse(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status });
}

export interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** The token that opened it: no other token may use it, even knowing its id. */
  readonly token: string;
}

/** The open sessions, those used last at the end. When there are too many, the one that was silent longest goes. */
export class HttpSessions {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(id: string, session: HttpSession): void {
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= this.#most && oldest !== undefined) void this.#sessions.get(oldest)?.transport.close();
    this.#sessions.set(id, session);
  }

  find(id: string, token: string): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.token !== token) return undefined;
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  remove(id: string | undefined): void {
    if (id !== undefined) this.#sessions.delete(id);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(async ({ transport }) => transport.close()));
  }
}

/** A request of `node:http` whose body has been read already, as the web's standard wants it. */
export function toWebRequest(incoming: IncomingMessage, body: string | undefined, gone: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const method = incoming.method ?? 'GET';
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  return new Request(url, { method, headers, signal: gone, ...(body === undefined ? {} : { body }) });
}

/** Sends a response, as it comes, until it ends or is cut off. */
export async function sendResponse(response: Response, outgoing: ServerResponse, cutOff: AbortSignal): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // A client that closes a stream has ended it; that is no failure.
  await pipeline(Readable.fromWeb(response.body), outgoing, { signal: cutOff }).catch(() => {});
}

/** Aborted when the client closes the connection before it has been answered. */
export function closeSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return gone.signal;
}
