import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { rmSync, writeFileSync } from 'node:fs';
import { MATCHED_HEADER } from '../api/http/request.ts';
import { listKept, readKept, removeKept } from '../api/outbox.ts';
import { stateFiles } from '../api/state-folder.ts';

export interface Call {
  readonly operation: string;
  readonly token: string;
  readonly key: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The stand-in's answers by operation; other operations are answered with `{}`. */
export type Answers = Readonly<Record<string, (call: Call) => object>>;

/** The part of a daemon that a supervisor uses: a real server on a real socket that records calls, each key once. */
export class DaemonStandIn {
  readonly calls: Call[] = [];
  /** The token in `baton-matched` of each MCP request, or null. */
  readonly forwarded: (string | null)[] = [];
  readonly #stateDir: string;
  readonly #answers: Answers;
  readonly #seen = new Set<string>();
  #server: Server | undefined;
  /** Set to receive requests without answering them. */
  isStuck = false;
  /** Set to be killed, and replaced, at each request to drain the outbox. */
  isKilledAtDelivery = false;

  constructor(stateDir: string, answers: Answers = {}) {
    this.#stateDir = stateDir;
    this.#answers = answers;
  }

  async start(): Promise<void> {
    const { socket, record } = stateFiles(this.#stateDir);
    rmSync(socket, { force: true });
    const server = createServer((request, response) => void this.#take(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => {
      server.listen(socket, resolve);
    });
    const started = new Date().toISOString();
    writeFileSync(record, JSON.stringify({ pid: process.pid, port: 1, socket, version: '0', started }));
    this.#deliver();
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  }

  of(operation: string): Call[] {
    return this.calls.filter((call) => call.operation === operation);
  }

  reports(kind: string): Call[] {
    return this.of('agent_report').filter(({ input }) => input['kind'] === kind);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString(); // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (this.isStuck) return;
    const { url = '', headers } = request;
    const token = (headers.authorization ?? '').slice('Bearer '.length);
    if (url === '/v1/deliver' && this.isKilledAtDelivery) return void request.socket.destroy();
    if (url === '/v1/deliver') this.#deliver();
    if (url === '/mcp') this.forwarded.push(headers[MATCHED_HEADER]?.toString() ?? null);
    const operation = url.replace(/^\/(?:v1\/)?/, '');
    if (!(operation in this.#answers) && (operation === 'mcp' || operation === 'events')) return stream(response, body);
    const key = headers['idempotency-key'];
    const answer = this.#hear(operation, token, typeof key === 'string' ? key : undefined, body);
    const text = JSON.stringify(answer);
    // An MCP notification has no response body.
    const status = operation === 'mcp' && text === '{}' ? 202 : 200;
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': status === 202 ? 0 : Buffer.byteLength(text),
    });
    response.end(status === 202 ? '' : text);
  }

  #hear(operation: string, token: string, key: string | undefined, body: string): object {
    const parsed: object = JSON.parse(body || '{}');
    const call = { operation, token, key, input: { ...parsed } };
    const isRepeat = key !== undefined && this.#seen.has(key);
    if (!isRepeat) this.calls.push(call);
    if (key !== undefined) this.#seen.add(key);
    return this.#answers[operation]?.(call) ?? { ok: true, result: {} };
  }

  #deliver(): void {
    if (this.isKilledAtDelivery) return;
    const { outbox } = stateFiles(this.#stateDir);
    for (const name of listKept(outbox)) {
      const kept = readKept(outbox, name);
      if (kept !== undefined) this.#hear(kept.operation, kept.token, kept.key, kept.input);
      removeKept(outbox, name);
    }
  }
}

/** Sends the response in pieces, as MCP and events do. */
function stream(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: first ${body}\n\n`);
  setTimeout(() => response.end('data: last\n\n'), 50);
}
