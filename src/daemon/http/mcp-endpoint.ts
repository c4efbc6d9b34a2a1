import type { Answer } from '../../api/answer.ts';
import type { IncomingMessage } from 'node:http';
import { MATCHED_HEADER, readBody } from '../../api/http/request.ts';
import { sendAnswer } from '../../api/http/respond.ts';
import { VERSION } from '../../api/version.ts';
import type { Backend, McpConnection } from '../../mcp/connection.ts';
import { closeSignal, createMcpHttp, type McpHttp, sendResponse, toWebRequest } from '../../mcp/http.ts';
import { createMcpServer } from '../../mcp/server.ts';
import { dispatchCall, type DispatchOptions } from '../dispatch.ts';
import { SERVER_LIMITS } from '../limits.ts';
import type { AccessTokens, CallerIdentity } from '../tokens.ts';
import { BAD_PATH, refusal } from './refusals.ts';
import { type HttpExchange, projectPathIn } from './route.ts';

export interface McpEndpointOptions extends DispatchOptions {
  readonly tokens: AccessTokens;
}

/** `/mcp`: the operations as MCP tools over HTTP, with the access checks of every other path. */
export class McpEndpoint {
  readonly #options: McpEndpointOptions;
  readonly #http: McpHttp;
  readonly #stopping = new AbortController();

  constructor(options: McpEndpointOptions) {
    this.#options = options;
    this.#http = createMcpHttp(
      (connection, projectPath) =>
        createMcpServer(this.#backend(projectPath, connection), { connection, version: VERSION, takesToken: true }),
      { maxSessions: SERVER_LIMITS.mcpSessions },
    );
  }

  async handle({ request, response, identity, token, signal }: HttpExchange): Promise<void> {
    if (identity.caller.kind === 'operator') return sendAnswer(response, NOT_FOR_OPERATORS);
    const projectPath = projectPathIn(request);
    if (projectPath === null) return sendAnswer(response, BAD_PATH);
    const body = request.method === 'POST' ? await readBody(request) : ({ ok: true, bytes: Buffer.alloc(0) } as const);
    if (body === 'gone') return;
    if (!body.ok) return sendAnswer(response, body, { closes: true });
    const gone = closeSignal(response);
    // If the client is still connected, the abort means that the daemon is stopping.
    const onEnd = (): void => void (response.destroyed || this.#stop());
    if (signal.aborted) onEnd();
    signal.addEventListener('abort', onEnd, { once: true });
    const text = body.bytes.length === 0 ? undefined : body.bytes.toString('utf8');
    const matched = this.#findMatching(request, identity);
    const guarded = { request: toWebRequest(request, text, gone), body: parseJson(text), token, projectPath, matched };
    await sendResponse(await this.#http.handle(guarded), response, request.method === 'GET' ? signal : gone);
  }

  /** Answers waiting calls at once. A moment later all streams end, including idle ones. */
  #stop(): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    setTimeout(() => void this.#http.close(), ANSWERING_MS).unref();
  }

  /** The agent whose supervisor vouches for the request; undefined without its token, or for another project. */
  #findMatching({ headers }: IncomingMessage, { project }: CallerIdentity): string | undefined {
    const token = headers[MATCHED_HEADER];
    const identity = typeof token === 'string' ? this.#options.tokens.identify(token) : undefined;
    if (identity?.caller.kind !== 'supervisor' || identity.project !== project) return undefined;
    return identity.caller.agentId;
  }

  #backend(projectPath: string | undefined, opened: McpConnection): Backend {
    return {
      call: async (operation, input, { token = '', key, signal, matched }): Promise<Answer> => {
        const identity = withMatching(this.#options.tokens.identify(token), matched);
        if (identity === undefined) return BAD_CLAIM_TOKEN;
        if (identity.caller.kind === 'operator') return NOT_FOR_OPERATORS;
        // Access was checked for the header's token. An argument may name a claim but not extend rights.
        if (identity.caller.kind === 'worker' && token !== opened.token) return BAD_CLAIM_TOKEN;
        const body = Buffer.from(JSON.stringify(input ?? {}));
        const ended = AbortSignal.any([this.#stopping.signal, ...(signal === undefined ? [] : [signal])]);
        return dispatchCall({ operation, identity, token, projectPath, body, key, signal: ended }, this.#options);
      },
    };
  }
}

function withMatching(identity: CallerIdentity | undefined, matched: string | undefined): CallerIdentity | undefined {
  if (identity?.caller.kind !== 'session' || matched === undefined) return identity;
  return { ...identity, caller: { ...identity.caller, matched } };
}

/** Leaves invalid JSON to the transport, which reports it. */
function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const NOT_FOR_OPERATORS = refusal(
  'forbidden',
  'an MCP client never acts for the operator',
  "Use the worker's token (worker.token in the state folder) or that of a session.",
);

const BAD_CLAIM_TOKEN = refusal(
  'bad-token',
  'the token is not one of this daemon',
  'Pass the token that task_claim returned.',
);

const ANSWERING_MS = 500;
