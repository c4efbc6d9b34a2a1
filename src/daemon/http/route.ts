import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, ApiError } from '../../api/answer.ts';
import { OPERATIONS } from '../../api/operations/registry.ts';
import { isPrincipalName, PRINCIPAL_EXPECTED } from '../../api/state-folder.ts';
import { VERSION } from '../../api/version.ts';
import { dispatchCall, type DispatchOptions, findProject } from '../dispatch.ts';
import { SERVER_LIMITS } from '../limits.ts';
import { readClaimEndError } from '../operations/execute.ts';
import type { OutboxDelivery } from '../outbox-delivery.ts';
import type { AccessTokens, CallerIdentity } from '../tokens.ts';
import { streamEvents } from './events.ts';
import { decodeProjectPath, isIdempotencyKey, readBody } from './request-body.ts';
import { sendAnswer } from './respond.ts';

/** A request whose sender is known. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly identity: CallerIdentity;
  readonly token: string;
  /** Aborted when the sender has gone, and when the daemon stops. */
  readonly signal: AbortSignal;
}

export interface RouteOptions extends DispatchOptions {
  readonly delivery: OutboxDelivery;
  readonly tokens: AccessTokens;
  readonly started: string;
  readonly stateDir: string;
  /** How many requests are being answered. */
  readonly underWay: () => number;
  /** Begins to stop; resolves when everything is closed. */
  readonly stop: () => Promise<void>;
}

/** Finds out what a request wants, does it, and answers. */
export async function route(exchange: HttpExchange, options: RouteOptions): Promise<void> {
  const { request, response } = exchange;
  const { method, url = '' } = request;
  const handler = FIXED_ROUTES.get(url) ?? (url.startsWith('/v1/') ? OPERATION_ROUTE : undefined);
  if (handler === undefined) return refuseRequest(response, 'no-such-path', `there is nothing at ${url.slice(0, 100)}`);
  if (method !== handler.method)
    return refuseRequest(response, 'bad-method', `${url.slice(0, 100)} wants ${handler.method}`);
  if (handler.isForAnyVersion !== true && !isOurVersion(request)) {
    return sendAnswer(response, { ok: false, error: versionError(String(request.headers['baton-version'])) });
  }
  return handler.run(exchange, options);
}

export function isOurVersion({ headers }: IncomingMessage): boolean {
  const theirs = headers['baton-version'];
  return theirs === undefined || theirs === VERSION;
}

interface RouteHandler {
  readonly method: 'GET' | 'POST';
  /** Works between versions, so that a new command can stop an old daemon. */
  readonly isForAnyVersion?: true;
  readonly run: (exchange: HttpExchange, options: RouteOptions) => Promise<void>;
}

const OPERATION_ROUTE: RouteHandler = { method: 'POST', run: routeOperation };

const FIXED_ROUTES: ReadonlyMap<string, RouteHandler> = new Map(
  Object.entries<RouteHandler>({
    '/v1/health': { method: 'GET', isForAnyVersion: true, run: showHealth },
    '/v1/openapi.json': { method: 'GET', run: showOpenApi },
    '/v1/events': { method: 'GET', run: runEvents },
    '/v1/calls': { method: 'GET', run: refuseCalls },
    '/v1/stop': { method: 'POST', isForAnyVersion: true, run: runStop },
    '/v1/deliver': { method: 'POST', run: runDelivery },
    '/v1/worker-token': { method: 'POST', run: runWorkerToken },
  }),
);

async function routeOperation(
  { request, response, identity, token, signal }: HttpExchange,
  options: RouteOptions,
): Promise<void> {
  const operation = (request.url ?? '').slice('/v1/'.length);
  const body = await readBody(request, OPERATIONS.get(operation)?.maxBytes);
  if (body === 'gone') return;
  if (!body.ok) return sendAnswer(response, body, { closes: true });
  const projectPath = projectPathIn(request);
  if (projectPath === null) return refuseRequest(response, 'bad-request', 'baton-project-path is not well encoded');
  const key = request.headers['idempotency-key'];
  if (key !== undefined && !isIdempotencyKey(key)) {
    return refuseRequest(
      response,
      'bad-request',
      `an idempotency key has 1 to ${SERVER_LIMITS.idempotencyKeyLength} visible characters`,
    );
  }
  const said = { operation, identity, token, projectPath, body: body.bytes, key, signal };
  sendAnswer(response, await dispatchCall(said, options));
}

/** It answers at once, whatever the stores do: what is known of them, and nothing is tried. */
async function showHealth({ response, identity }: HttpExchange, options: RouteOptions): Promise<void> {
  const { started, stateDir, underWay, projects } = options;
  const stores = projects.opened().map(({ project }) => ({ project: project.id, ...project.ledger.health }));
  const broken = stores.filter(({ writable }) => !writable);
  const result = {
    version: VERSION,
    pid: process.pid,
    started,
    state_dir: stateDir,
    // This request itself is none of those that are under way.
    requests: underWay() - 1,
    writable: broken.length === 0,
    // Other projects are no business of a session.
    stores: identity.caller.kind === 'operator' ? broken : [],
  };
  sendAnswer(response, { ok: true, result });
}

async function showOpenApi({ response }: HttpExchange): Promise<void> {
  const { openApi } = await import('../../api/openapi.ts');
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(openApi()));
}

/** Those that ask for a channel as they should get one before they come here. */
async function refuseCalls({ response }: HttpExchange): Promise<void> {
  refuseRequest(response, 'bad-request', '/v1/calls wants `upgrade: baton-calls`');
}

let openStreams = 0;

async function runEvents(
  { request, response, identity, signal }: HttpExchange,
  { projects }: RouteOptions,
): Promise<void> {
  const found = await findProject({ identity, projectPath: projectPathIn(request) ?? undefined }, projects);
  if (!found.ok) return sendAnswer(response, found);
  const { caller } = identity;
  const ended = caller.kind === 'session' ? await readClaimEndError(found.open.project, caller) : undefined;
  if (ended !== undefined) return sendAnswer(response, { ok: false, error: ended });
  const after = Number(request.headers['last-event-id'] ?? 0);
  if (!Number.isSafeInteger(after) || after < 0)
    return refuseRequest(response, 'bad-request', 'Last-Event-ID is not a number');
  if (openStreams >= SERVER_LIMITS.eventStreams)
    return refuseRequest(response, 'rate-limited', 'too many follow the ledger already');
  openStreams += 1;
  try {
    await streamEvents(response, found.open.feed, after, signal);
  } finally {
    openStreams -= 1;
  }
}

/** Answers when everything is closed: whoever hears the answer may start the next daemon. */
async function runStop({ response, identity }: HttpExchange, { stop, projects }: RouteOptions): Promise<void> {
  if (identity.caller.kind !== 'operator')
    return refuseRequest(response, 'forbidden', 'only an operator may stop the daemon');
  // They live under supervisors of their own, and go on.
  const agents = projects.opened().reduce((sum, { project }) => sum + project.liveAgents, 0);
  await stop();
  sendAnswer(response, { ok: true, result: { pid: process.pid, agents } }, { closes: true });
}

async function runDelivery({ response }: HttpExchange, { delivery }: RouteOptions): Promise<void> {
  sendAnswer(response, { ok: true, result: await delivery.deliver() });
}

/** Only an operator issues a worker token. It names its principal, who is responsible for every call made with it. */
async function runWorkerToken({ request, response, identity }: HttpExchange, { tokens }: RouteOptions): Promise<void> {
  const body = await readBody(request);
  if (body === 'gone') return;
  if (!body.ok) return sendAnswer(response, body, { closes: true });
  if (identity.caller.kind !== 'operator')
    return refuseRequest(response, 'forbidden', 'only an operator issues worker tokens');
  const principal = parsePrincipal(body.bytes);
  if (principal === undefined) return refuseRequest(response, 'bad-request', PRINCIPAL_EXPECTED);
  sendAnswer(response, { ok: true, result: { principal, token: tokens.issueWorker(principal) } });
}

function parsePrincipal(bytes: Uint8Array): string | undefined {
  try {
    const { principal }: { principal?: unknown } = Object(JSON.parse(new TextDecoder().decode(bytes)));
    return typeof principal === 'string' && isPrincipalName(principal) ? principal : undefined;
  } catch {
    return undefined;
  }
}

/** Null where it is not well encoded. */
export function projectPathIn({ headers }: IncomingMessage): string | undefined | null {
  const path = headers['baton-project-path'];
  return typeof path === 'string' ? decodeProjectPath(path) : undefined;
}

function refuseRequest(response: ServerResponse, code: string, message: string): void {
  const answer: Answer = { ok: false, error: { code, message, hint: 'See docs/api.md.' } };
  sendAnswer(response, answer);
}

function versionError(theirs: string): ApiError {
  return {
    code: 'other-version',
    message: `the daemon is Baton ${VERSION}, and this is ${theirs.slice(0, 40)}`,
    hint: 'Stop the old daemon with `baton down`; the next command starts the new one.',
  };
}
