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
import { findText } from '../protocol/shape/read-unknown.ts';
import { McpConnection } from './connection.ts';

export type ServeConnection = (connection: McpConnection, projectPath: string | undefined) => McpServer;

/** A request that passed the daemon's access checks. */
interface GuardedRequest {
  readonly request: Request;
  /** The parsed body; absent for GET and DELETE. */
  readonly body?: unknown;
  readonly token: string;
  /** The agent whose supervisor has found these calls in its client's output. */
  readonly matched?: string | undefined;
  /** A folder in the repository that a worker acts on. A session does not need it: its token names the project. */
  readonly projectPath: string | undefined;
}

export interface McpHttp {
  readonly handle: (guarded: GuardedRequest) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/**
 * Serves MCP over HTTP. Revisions of 2025 open a session, which owns the claims. Revision 2026-07-28 has no session:
 * the claim's token is an argument.
 */
export function createMcpHttp(serve: ServeConnection, { maxSessions }: { readonly maxSessions: number }): McpHttp {
  // The most recently used session is last. Stores the opener's token, because no other caller may use the session even
  // with its id.
  const sessions = new Map<string, { transport: WebStandardStreamableHTTPServerTransport; token: string }>();
  const modern = createMcpHandler(
    ({ authInfo }) => serve(new McpConnection(authInfo?.token), findText(authInfo?.extra?.['projectPath'])),
    // Responds with a stream, because clients give up if a long wait sends not even a header.
    { legacy: 'reject', responseMode: 'sse' },
  );

  const openSession = async (guarded: GuardedRequest): Promise<Response> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        const [oldest] = sessions.values();
        if (sessions.size >= maxSessions) void oldest?.transport.close();
        sessions.set(id, { transport, token: guarded.token });
      },
    });
    // Transports have no `addEventListener`.
    transport.onclose = () => sessions.delete(transport.sessionId ?? ''); // oxlint-disable-line unicorn/prefer-add-event-listener
    await serve(new McpConnection(guarded.token), guarded.projectPath).connect(transport);
    return serveSession(transport, guarded);
  };

  return {
    handle: async (guarded) => {
      const { request, body, token, projectPath, matched } = guarded;
      if (!(await isLegacyRequest(request, body))) {
        const authInfo = { token, clientId: 'baton', scopes: [], extra: { projectPath, matched } };
        return modern.fetch(request, { authInfo, ...(body === undefined ? {} : { parsedBody: body }) });
      }
      const id = request.headers.get('mcp-session-id');
      if (id === null && isInitializeRequest(body)) return openSession(guarded);
      if (id === null) return errorResponse(400, 'Bad Request: Mcp-Session-Id header is required');
      const session = sessions.get(id);
      if (session?.token !== token) return errorResponse(404, 'Session not found');
      sessions.delete(id);
      sessions.set(id, session);
      return serveSession(session.transport, guarded);
    },
    close: async () => {
      await Promise.all([modern.close(), ...[...sessions.values()].map(async ({ transport }) => transport.close())]);
    },
  };
}

/** Responds on a stream that cannot be resumed: if it breaks, waiting calls are cancelled; completed writes stay. */
async function serveSession(
  transport: WebStandardStreamableHTTPServerTransport,
  { request, body, token, matched }: GuardedRequest,
): Promise<Response> {
  const callOff = (): void => {
    for (const requestId of requestIds(body)) {
      transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    }
  };
  request.signal.addEventListener('abort', callOff, { once: true });
  const response = await transport.handleRequest(request, {
    parsedBody: body,
    authInfo: { token, clientId: 'baton', scopes: [], extra: { matched } },
  });
  // The client may have disconnected before the listener was added, or before the call could be cancelled.
  if (request.signal.aborted) callOff();
  return response;
}

function requestIds(body: unknown): (string | number)[] {
  return [body].flat().flatMap((message) => (isJSONRPCRequest(message) ? [message.id] : []));
}

function errorResponse(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status });
}

/** Converts a request of `node:http` whose body was already read. */
export function toWebRequest(incoming: IncomingMessage, body: string | undefined, gone: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const method = incoming.method ?? 'GET';
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  return new Request(url, { method, headers, signal: gone, ...(body === undefined ? {} : { body }) });
}

export async function sendResponse(response: Response, outgoing: ServerResponse, cutOff: AbortSignal): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // A client that disconnects ends the stream; that is not an error.
  await pipeline(Readable.fromWeb(response.body), outgoing, { signal: cutOff }).catch(() => {});
}

/** Aborted when the client disconnects before the response is complete. */
export function closeSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return gone.signal;
}
