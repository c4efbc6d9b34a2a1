import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type BodyResult, findBearerToken } from '../../api/http/request.ts';
import { sendAnswer } from '../../api/http/respond.ts';
import { SERVER_LIMITS } from '../limits.ts';
import { causeOf, type Log, ThrottledLog } from '../log.ts';
import type { PageDoor } from '../pages/page-ledgers.ts';
import type { AccessTokens, CallerIdentity } from '../tokens.ts';
import { type AccessResult, checkAccess, isAddressedToDaemon, SessionGuard } from './access.ts';
import { type ChannelOptions, OperationChannel } from './channel.ts';
import {
  ActiveCalls,
  ConnectionSlots,
  makeSocketPath,
  readDescriptorLimit,
  removeSocketFolder,
  slotLimits,
} from './connections.ts';
import { WEBHOOK_PATH } from './github-webhook.ts';
import { handleMetrics, isMetricsRequest } from './metrics.ts';
import { listenAt, listenOnOwnPort, portOf } from './own-port.ts';
import { type Listener, type PageCaller, prepareFinish, readSignedBody } from './page-caller.ts';
import { handlePageRequest, isPageRequest, servePageAt } from './page-requests.ts';
import { DAEMON_STOPPING, INTERNAL_ERROR, type Refusal, TOO_MANY_CONNECTIONS, TOO_MANY_REQUESTS } from './refusals.ts';
import { type HttpExchange, isOurVersion, projectPathIn } from './route.ts';

export interface DaemonServerOptions {
  readonly stateDir: string;
  readonly tokens: AccessTokens;
  readonly log: Log;
  readonly route: (exchange: HttpExchange) => Promise<void>;
  readonly dispatch: ChannelOptions['dispatch'];
  readonly door: PageDoor;
  readonly webhook: OpenHandler;
  /** The metrics as Prometheus text. */
  readonly metrics: () => string;
}

type OpenHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The daemon's two listeners, a Unix socket and a loopback port, with the same rules. */
export class DaemonServer {
  readonly #options: DaemonServerOptions;
  readonly #servers: HttpServer[] = [];
  readonly #underWay = new ActiveCalls();
  /** Requests to stop. They are answered last, so stopping does not wait for them. */
  readonly #stopRequests = new ActiveCalls();
  /** Upgraded connections, which Node's server does not close. */
  readonly #channels = new Set<Duplex>();
  readonly #perSocket = new WeakMap<Socket, number>();
  readonly #guard: SessionGuard;
  readonly #slots: ConnectionSlots<Socket>;
  readonly #slotLimits = slotLimits(readDescriptorLimit(), SERVER_LIMITS.connections);
  readonly #throttled: ThrottledLog;
  #socket = '';
  #isStopping = false;

  constructor(options: DaemonServerOptions) {
    this.#options = options;
    this.#guard = new SessionGuard(options.stateDir);
    this.#slots = new ConnectionSlots(this.#slotLimits);
    this.#throttled = new ThrottledLog(options.log);
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  async listen(): Promise<{ readonly socket: string; readonly port: number }> {
    const socket = makeSocketPath(this.#options.stateDir);
    this.#socket = socket;
    const [onSocket, onPort] = [this.#create(() => undefined), this.#create((server) => portOf(server))];
    await listenAt(onSocket, { path: socket });
    chmodSync(socket, 0o600);
    const { stateDir, door, log } = this.#options;
    const { port, taken } = await listenOnOwnPort(onPort, stateDir);
    if (taken !== undefined)
      log.error('another program has the port of this state folder', { was: taken.from, port, pid: taken.holder?.pid });
    door.pages.listensOn(port, taken);
    return { socket, port };
  }

  async finishCalls(): Promise<void> {
    this.#isStopping = true;
    this.#underWay.abort();
    await this.#underWay.whenEmpty(SERVER_LIMITS.settleMs);
  }

  /** Stops listening. Open connections stay. Node removes the socket. */
  closeListeners(): void {
    for (const server of this.#servers) server.close();
    removeSocketFolder(this.#socket);
  }

  async closeConnections(): Promise<void> {
    await this.#stopRequests.whenEmpty(SERVER_LIMITS.farewellMs);
    for (const server of this.#servers) server.closeAllConnections();
    await this.#endChannels();
  }

  async #endChannels(): Promise<void> {
    const channels = [...this.#channels];
    const timer = setTimeout(() => channels.map((socket) => socket.destroy()), SERVER_LIMITS.farewellMs);
    const closed = channels.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.once('close', resolve);
          socket.end(() => socket.destroy());
        }),
    );
    await Promise.all(closed);
    clearTimeout(timer);
  }

  #create(port: (server: HttpServer) => number | undefined): HttpServer {
    const server: HttpServer = createServer(
      {
        keepAliveTimeout: SERVER_LIMITS.keepAliveMs,
        headersTimeout: SERVER_LIMITS.headersTimeoutMs,
        requestTimeout: SERVER_LIMITS.requestTimeoutMs,
        maxHeaderSize: SERVER_LIMITS.headerBytes,
        noDelay: true,
        // A request that may not open a channel is handled, and refused, like any other request.
        shouldUpgradeCallback: (request) => this.#findOpener(request, { port: port(server) }) !== undefined,
      },
      (request, response) => void this.#handle(request, response, { port: port(server) }),
    );
    server.on('upgrade', (request, socket, head) => this.#openChannel(request, socket, head, { port: port(server) }));
    server.on('connection', (socket) => this.#addConnection(socket));
    // Without this listener a failed accept would end the process.
    server.on('error', ({ message: cause }) => {
      if (server.listening) this.#throttled.error('a connection cannot be accepted', { cause });
    });
    server.maxConnections = this.#slotLimits.total + 1;
    this.#servers.push(server);
    return server;
  }

  #addConnection(socket: Socket): void {
    socket.once('close', () => this.#slots.remove(socket));
    this.#removeConnection(this.#slots.add(socket));
  }

  /** Closes an idle connection. Its client reconnects when needed. */
  #removeConnection(socket: Socket | undefined): void {
    if (socket === undefined) return;
    const { total } = this.#slotLimits;
    this.#throttled.error('too many connections: those that were idle for longest are closed', { limit: total });
    this.#slots.remove(socket);
    socket.destroy();
  }

  #hasSlot(socket: Socket, { caller }: CallerIdentity): boolean {
    const { kind } = caller;
    const slot = this.#slots.identify(socket, kind === 'operator' || kind === 'worker' ? kind : 'session');
    if (slot !== 'full') this.#removeConnection(slot.close);
    else this.#throttled.error('too many connections: one was refused', { kind, limit: this.#slotLimits.total });
    return slot !== 'full';
  }

  async #handle(request: IncomingMessage, response: ServerResponse, listener: Listener): Promise<void> {
    const { log, route, door } = this.#options;
    response.sendDate = false;
    prepareFinish(request, response, listener, door.pages);
    // A request under a foreign Host name gets nothing, not even the page.
    if (!this.#isStopping && isAddressedToDaemon(request, listener) && servePageAt(request, response, listener)) return;
    const handleUnknown = this.#findOpenHandler(request, listener);
    if (handleUnknown !== undefined) return this.#handleOpen(request, response, handleUnknown);
    const isStop = request.url === '/v1/stop';
    const access =
      this.#isStopping && !isStop ? DAEMON_STOPPING : (this.#busy(request) ?? this.#checkAccess(request, listener));
    if (!access.ok) {
      if (access !== DAEMON_STOPPING) log.info('refused', { code: access.error.code, path: pathOf(request) });
      sendAnswer(response, access, { closes: true });
      return;
    }
    const { identity, page } = access;
    const controller = this.#enter(request, response, isStop);
    try {
      const body = page && (await this.#readSigned(request, response, page, controller));
      if (body === 'gone') return;
      if (body?.ok === false) return sendAnswer(response, body, { closes: true });
      // A connection counts as the operator's only after a signature proved it.
      if (!this.#hasSlot(request.socket, identity)) return sendAnswer(response, TOO_MANY_CONNECTIONS, { closes: true });
      const { signal } = controller;
      const exchange = { request, response, identity, token: findBearerToken(request.headers) ?? '', signal };
      await route(body === undefined ? exchange : { ...exchange, body: body.bytes });
    } catch (error) {
      log.error('a request failed', { path: pathOf(request), cause: causeOf(error) });
      sendAnswer(response, { ok: false, error: INTERNAL_ERROR }, { closes: true });
    }
  }

  async #readSigned(
    request: IncomingMessage,
    response: ServerResponse,
    page: PageCaller,
    controller: AbortController,
  ): Promise<BodyResult | 'gone'> {
    const { pages } = this.#options.door;
    response.once('close', pages.track(page.key.id, controller));
    return readSignedBody(request, page, pages);
  }

  /** Finds the handler of a request without a token. Such handlers check access themselves. */
  #findOpenHandler(request: IncomingMessage, listener: Listener): OpenHandler | undefined {
    const { webhook, door, tokens, metrics, log } = this.#options;
    if (isMetricsRequest(request))
      return async (...both) => handleMetrics(...both, listener, { tokens, guard: this.#guard, metrics, log });
    const isWebhook = request.url === WEBHOOK_PATH && request.method === 'POST';
    if (isWebhook && isAddressedToDaemon(request, listener)) return webhook;
    const checks = { listener, guard: this.#guard, operator: tokens.operator };
    return isPageRequest(request, listener) ? async (...both) => handlePageRequest(...both, door, checks) : undefined;
  }

  async #handleOpen(request: IncomingMessage, response: ServerResponse, handle: OpenHandler): Promise<void> {
    const busy = this.#isStopping ? DAEMON_STOPPING : this.#busy(request);
    if (busy !== undefined) return sendAnswer(response, busy, { closes: true });
    this.#enter(request, response, false);
    try {
      await handle(request, response);
    } catch (error) {
      this.#options.log.error('a request failed', { path: pathOf(request), cause: causeOf(error) });
      sendAnswer(response, { ok: false, error: INTERNAL_ERROR }, { closes: true });
    }
  }

  /** Counts the request until its response is sent or its client disconnects. */
  #enter(request: IncomingMessage, response: ServerResponse, isStop: boolean): AbortController {
    const { socket } = request;
    const set = isStop ? this.#stopRequests : this.#underWay;
    const controller = set.enter();
    this.#perSocket.set(socket, (this.#perSocket.get(socket) ?? 0) + 1);
    const endBusy = this.#slots.markBusy(socket);
    response.once('close', () => {
      endBusy();
      this.#perSocket.set(socket, (this.#perSocket.get(socket) ?? 1) - 1);
      if (!response.writableFinished) controller.abort();
      set.leave(controller);
    });
    return controller;
  }

  #checkAccess(request: IncomingMessage, listener: Listener): AccessResult {
    const { tokens, door } = this.#options;
    return checkAccess(request, listener, { tokens, guard: this.#guard, pages: door.pages });
  }

  #findOpener(request: IncomingMessage, listener: Listener): CallerIdentity | undefined {
    const isWanted = request.url === '/v1/calls' && request.headers.upgrade === 'baton-calls';
    if (!isWanted || this.#isStopping || !isOurVersion(request) || projectPathIn(request) === null) return undefined;
    const access = this.#checkAccess(request, listener);
    return access.ok && access.page === undefined ? access.identity : undefined;
  }

  #openChannel(request: IncomingMessage, socket: Duplex, head: Buffer, listener: Listener): void {
    const { tokens, dispatch } = this.#options;
    const identity = this.#findOpener(request, listener);
    if (identity === undefined || !this.#hasSlot(request.socket, identity)) {
      socket.destroy();
      return;
    }
    this.#channels.add(socket);
    socket.once('close', () => this.#channels.delete(socket));
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: baton-calls\r\n\r\n');
    OperationChannel.serve(socket, head, {
      identity,
      token: findBearerToken(request.headers) ?? '',
      projectPath: projectPathIn(request) ?? undefined,
      refuse: (given) => this.#guard.findRefusal(given, request.socket),
      tokens,
      dispatch: async (call) => dispatch(call).finally(this.#slots.markBusy(request.socket)),
      underWay: this.#underWay,
      isStopping: () => this.#isStopping,
    });
  }

  #busy({ socket }: IncomingMessage): Refusal | undefined {
    const isBusy =
      this.#underWay.size >= SERVER_LIMITS.requestsTogether ||
      (this.#perSocket.get(socket) ?? 0) >= SERVER_LIMITS.requestsPerConnection;
    return isBusy ? TOO_MANY_REQUESTS : undefined;
  }
}

/** Omits the query, which may contain a secret. */
function pathOf({ url = '' }: IncomingMessage): string {
  return (url.split('?', 1)[0] ?? '').slice(0, 100);
}
