import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeProjectPath, readBody } from '../../api/http/request.ts';
import { sendAnswer, sendJson } from '../../api/http/respond.ts';
import { OPERATIONS } from '../../api/operations/registry.ts';
import { PAGE_HEADERS, PAGE_PATHS } from '../../api/page-access.ts';
import { isPrincipalName, PRINCIPAL_EXPECTED } from '../../api/state-folder.ts';
import { VERSION } from '../../api/version.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import { dispatchCall, type DispatchOptions, findProject, readClaimEndError } from '../dispatch.ts';
import { SERVER_LIMITS } from '../limits.ts';
import type { OutboxDelivery } from '../outbox-delivery.ts';
import { NOT_FOR_PAGES } from '../pages/page-refusals.ts';
import type { AccessTokens, CallerIdentity } from '../tokens.ts';
import { streamEvents } from './events.ts';
import { parseAfter, streamPage } from './page-events.ts';
import { BAD_PATH, isIdempotencyKey, type Refusal, refusal } from './refusals.ts';

export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly identity: CallerIdentity;
  readonly token: string;
  /** Aborted when the client disconnects or the daemon stops. */
  readonly signal: AbortSignal;
  /** The body of a page's request, already read for the signature check. */
  readonly body?: Buffer;
}

export interface RouteOptions extends DispatchOptions {
  readonly delivery: OutboxDelivery;
  readonly tokens: AccessTokens;
  readonly started: string;
  /** A random name for this start of the daemon. */
  readonly instance: string;
  readonly stateDir: string;
  readonly underWay: () => number;
  readonly stop: () => Promise<void>;
}

export async function route(exchange: HttpExchange, options: RouteOptions): Promise<void> {
  const { request, response } = exchange;
  const { method, url = '' } = request;
  const handler = FIXED_ROUTES.get(url) ?? (url.startsWith('/v1/') ? OPERATION_ROUTE : undefined);
  if (handler === undefined) return refuseRequest(response, 'no-such-path', `no such path: ${url.slice(0, 100)}`);
  if (method !== handler.method)
    return refuseRequest(response, 'bad-method', `${url.slice(0, 100)} requires ${handler.method}`);
  if (handler.refusesPages === true && isOfPage(exchange.identity)) return sendAnswer(response, NOT_FOR_PAGES);
  if (handler.isForAnyVersion !== true && !isOurVersion(request)) {
    return sendAnswer(response, otherVersion(String(request.headers['baton-version'])));
  }
  return handler.run(exchange, options);
}

export function isOurVersion({ headers }: IncomingMessage): boolean {
  const theirs = headers['baton-version'];
  return theirs === undefined || theirs === VERSION;
}

interface RouteHandler {
  readonly method: 'GET' | 'POST';
  /** Accepts clients of any version, so that a new command can stop an old daemon. */
  readonly isForAnyVersion?: true;
  /** A page must not obtain a token: the page's key can be revoked, the token could not. */
  readonly refusesPages?: true;
  readonly run: (exchange: HttpExchange, options: RouteOptions) => Promise<void>;
}

const OPERATION_ROUTE: RouteHandler = { method: 'POST', run: routeOperation };

const FIXED_ROUTES: ReadonlyMap<string, RouteHandler> = new Map(
  Object.entries<RouteHandler>({
    '/v1/health': { method: 'GET', isForAnyVersion: true, run: showHealth },
    '/v1/openapi.json': { method: 'GET', run: showOpenApi },
    '/v1/events': { method: 'GET', run: runEvents },
    [PAGE_PATHS.events]: { method: 'GET', run: runPageEvents },
    // Reached only by requests without a valid upgrade header.
    '/v1/calls': {
      method: 'GET',
      run: async ({ response }) => refuseRequest(response, 'bad-request', '/v1/calls requires `upgrade: baton-calls`'),
    },
    '/v1/stop': { method: 'POST', isForAnyVersion: true, refusesPages: true, run: runStop },
    '/v1/deliver': {
      method: 'POST',
      run: async ({ response, identity }, { delivery }) =>
        sendAnswer(response, { ok: true, result: await delivery.deliverFor(identity) }),
    },
    '/v1/worker-token': { method: 'POST', refusesPages: true, run: runWorkerToken },
  }),
);

async function routeOperation(
  { request, response, identity, token, signal, body: read }: HttpExchange,
  options: RouteOptions,
): Promise<void> {
  const operation = (request.url ?? '').slice('/v1/'.length);
  const body =
    read === undefined
      ? await readBody(request, OPERATIONS.get(operation)?.maxBytes)
      : ({ ok: true, bytes: read } as const);
  if (body === 'gone') return;
  if (!body.ok) return sendAnswer(response, body, { closes: true });
  const projectPath = projectPathIn(request);
  if (projectPath === null) return sendAnswer(response, BAD_PATH);
  const key = request.headers['idempotency-key'];
  if (key !== undefined && !isIdempotencyKey(key)) {
    return refuseRequest(
      response,
      'bad-request',
      `an idempotency key must have 1 to ${SERVER_LIMITS.idempotencyKeyLength} visible characters`,
    );
  }
  const call = { operation, identity, token, projectPath, body: body.bytes, key, signal };
  sendAnswer(response, await dispatchCall(call, options));
}

/** Reports the last known health of the stores without accessing them, so that it answers even if they hang. */
async function showHealth({ response, identity }: HttpExchange, options: RouteOptions): Promise<void> {
  const { started, stateDir, underWay, projects } = options;
  const stores = projects.opened().map(({ project }) => ({ project: project.id, ...project.ledger.health }));
  const broken = stores.filter(({ writable }) => !writable);
  const result = {
    version: VERSION,
    pid: process.pid,
    started,
    state_dir: stateDir,
    requests: underWay() - 1,
    writable: broken.length === 0,
    // A session must not learn about other projects.
    stores: identity.caller.kind === 'operator' ? broken : [],
  };
  sendAnswer(response, { ok: true, result });
}

async function showOpenApi({ response }: HttpExchange): Promise<void> {
  const { openApi } = await import('../../api/openapi/document.ts');
  sendJson(response, 200, openApi());
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
  await countStream(response, async () => streamEvents(response, found.open.feed, after, signal));
}

async function countStream(response: ServerResponse, stream: () => Promise<void>): Promise<void> {
  if (openStreams >= SERVER_LIMITS.eventStreams)
    return refuseRequest(response, 'rate-limited', 'too many event streams');
  openStreams += 1;
  try {
    await stream();
  } finally {
    openStreams -= 1;
  }
}

/** Sends one stream for all projects, because a browser opens few connections to one server. */
async function runPageEvents(
  { request, response, identity, signal }: HttpExchange,
  { projects, instance }: RouteOptions,
): Promise<void> {
  if (identity.caller.kind !== 'operator')
    return refuseRequest(response, 'forbidden', 'only an operator reads the entries of all projects');
  const after = parseAfter(String(request.headers[PAGE_HEADERS.after] ?? ''));
  if (after === undefined)
    return refuseRequest(response, 'bad-request', `${PAGE_HEADERS.after} is no JSON object of project ids and numbers`);
  await countStream(response, async () => streamPage(response, projects, { after, instance, signal }));
}

/** Responds when everything is closed, so that the caller may start the next daemon. */
async function runStop({ response, identity }: HttpExchange, { stop, projects }: RouteOptions): Promise<void> {
  if (identity.caller.kind !== 'operator')
    return refuseRequest(response, 'forbidden', 'only an operator may stop the daemon');
  // Agents keep running under their own supervisors.
  const agents = projects.opened().reduce((sum, { project }) => sum + project.liveAgents, 0);
  await stop();
  sendAnswer(response, { ok: true, result: { pid: process.pid, agents } }, { closes: true });
}

/** Only an operator issues worker tokens. The token's principal is responsible for every call made with it. */
async function runWorkerToken({ request, response, identity }: HttpExchange, { tokens }: RouteOptions): Promise<void> {
  const body = await readBody(request);
  if (body === 'gone') return;
  if (!body.ok) return sendAnswer(response, body, { closes: true });
  if (identity.caller.kind !== 'operator')
    return refuseRequest(response, 'forbidden', 'only an operator issues worker tokens');
  const { principal } = fieldsInJson(body.bytes.toString('utf8'));
  if (typeof principal !== 'string' || !isPrincipalName(principal))
    return refuseRequest(response, 'bad-request', PRINCIPAL_EXPECTED);
  sendAnswer(response, { ok: true, result: { principal, token: tokens.issueWorker(principal) } });
}

/** Returns null if the header is not percent-encoded correctly. */
export function projectPathIn({ headers }: IncomingMessage): string | undefined | null {
  const path = headers['baton-project-path'];
  return typeof path === 'string' ? decodeProjectPath(path) : undefined;
}

function isOfPage({ caller }: CallerIdentity): boolean {
  return caller.kind === 'operator' && caller.via !== undefined;
}

function refuseRequest(response: ServerResponse, code: string, message: string): void {
  sendAnswer(response, refusal(code, message));
}

function otherVersion(theirs: string): Refusal {
  return refusal(
    'other-version',
    `the daemon is Baton ${VERSION}, and this is ${theirs.slice(0, 40)}`,
    'Stop the old daemon with `baton down`; the next command starts the new one.',
  );
}
