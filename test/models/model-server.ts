import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Asked, Reply, Script } from './script.ts';

/** The wire format of one API. */
export interface Dialect {
  /** Parses a request; null if it is not for a turn. */
  readonly parse: (request: Received) => Asked | null;
  /**
   * Reports whether the request is not part of the conversation (a title, a quota): it is answered without using a turn
   * of the script.
   */
  readonly isAside: (asked: Asked) => boolean;
  readonly aside: Reply;
  readonly send: (response: ServerResponse, reply: Answer, asked: Asked, turn: number) => void;
  /** Answers other requests: lists of models, telemetry. */
  readonly elsewhere: (request: Received) => { readonly status: number; readonly body: unknown };
}

export type Answer = Exclude<Reply, { kind: 'cut' | 'silence' }>;

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** The requests for turns of the conversation, in order. */
  readonly asked: readonly Asked[];
  /** All other requests, as `POST /path`. */
  readonly others: readonly string[];
  readonly close: () => Promise<void>;
}

/** Starts a model on loopback that plays a script. */
export async function startModel(dialect: Dialect, script: Script): Promise<ModelServer> {
  const asked: Asked[] = [];
  const others: string[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => answer({ ...headOf(request), body }, response));
  });
  const answer = (request: Received, response: ServerResponse): void => {
    const question = dialect.parse(request);
    if (question === null || dialect.isAside(question)) others.push(`${request.method} ${request.path}`);
    if (question === null) return sendElsewhere(response, dialect.elsewhere(request));
    if (dialect.isAside(question)) return play(response, dialect, dialect.aside, question, 0);
    asked.push(question);
    play(response, dialect, replyTo(script, asked), question, asked.length);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, others, close, [Symbol.asyncDispose]: close };
}

function replyTo(script: Script, asked: readonly Asked[]): Reply {
  const turn = script[asked.length - 1];
  const question = asked.at(-1);
  if (turn === undefined || question === undefined) {
    return { kind: 'error', status: 418, error: 'script_ended', message: `the script has ${script.length} turns` };
  }
  return typeof turn === 'function' ? turn(question) : turn;
}

function play(response: ServerResponse, dialect: Dialect, reply: Reply, asked: Asked, turn: number): void {
  if (reply.kind === 'cut') response.destroy();
  else if (reply.kind !== 'silence') dialect.send(response, reply, asked, turn);
}

function sendElsewhere(response: ServerResponse, { status, body }: { status: number; body: unknown }): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function headOf(request: IncomingMessage): Omit<Received, 'body'> {
  return { method: request.method ?? '', path: request.url ?? '', headers: request.headers };
}

async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
}
