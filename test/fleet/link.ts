import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** The network between one host and its database. */
export interface Link extends AsyncDisposable {
  url(database: string): string;
  /** Leads new connections to another server, as after a failover; connections to the old one break. */
  lead(path: string): void;
  /** Delays everything that is sent in one direction or in both, without an error, like an unplugged cable. */
  cut(direction?: Direction): void;
  /** Breaks connections, and refuses new ones. */
  refuse(): void;
  delay(ms: number): void;
  /** Delivers everything that was delayed. */
  heal(): void;
}

type Direction = 'both' | 'to-server' | 'to-client';

interface State {
  path: string;
  cut: Direction | undefined;
  isRefused: boolean;
  delayMs: number;
}

/** A TCP proxy to the Unix socket of a server. */
export async function openLink(socket: string): Promise<Link> {
  const state: State = { path: socket, cut: undefined, isRefused: false, delayMs: 0 };
  const pipes = new Set<Pipe>();
  const server = createServer((client) => {
    if (state.isRefused) return void client.destroy();
    const upstream = createConnection(state.path);
    const pair = [new Pipe(client, upstream, state, 'to-server'), new Pipe(upstream, client, state, 'to-client')];
    for (const pipe of pair) {
      pipes.add(pipe);
      pipe.whenOver(() => pipes.delete(pipe));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const breakAll = (): void => {
    for (const pipe of pipes) pipe.break();
  };
  return {
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    lead(path) {
      state.path = path;
      breakAll();
    },
    cut: (direction = 'both') => void (state.cut = direction),
    refuse() {
      state.isRefused = true;
      breakAll();
    },
    delay: (ms) => void (state.delayMs = ms),
    heal() {
      Object.assign(state, { cut: undefined, isRefused: false, delayMs: 0 });
      for (const pipe of pipes) pipe.flush();
    },
    async [Symbol.asyncDispose]() {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };
}

/** One direction of one connection. */
class Pipe {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #state: State;
  readonly #direction: Direction;
  /** Delayed data, in order; null is the end of the stream. */
  readonly #waiting: { readonly data: Buffer | null; readonly atMs: number }[] = [];
  #isOver = false;
  #onOver: (() => void) | undefined;

  constructor(from: Socket, to: Socket, state: State, direction: Direction) {
    this.#from = from;
    this.#to = to;
    this.#state = state;
    this.#direction = direction;
    from.on('error', () => undefined);
    from.on('data', (data: Buffer) => this.#send(data));
    from.on('close', () => this.#send(null));
  }

  whenOver(listener: () => void): void {
    this.#onOver = listener;
  }

  break(): void {
    this.#from.destroy();
    this.#to.destroy();
    this.#end();
  }

  flush(): void {
    while (!this.#isCut && (this.#waiting[0]?.atMs ?? Infinity) <= performance.now()) {
      const data = this.#waiting.shift()?.data;
      if (data) this.#to.write(data);
      else {
        this.#to.destroy();
        this.#end();
      }
    }
  }

  get #isCut(): boolean {
    return this.#state.cut === 'both' || this.#state.cut === this.#direction;
  }

  #send(data: Buffer | null): void {
    if (this.#isOver) return;
    const { delayMs } = this.#state;
    this.#waiting.push({ data, atMs: performance.now() + delayMs });
    if (delayMs > 0) setTimeout(() => this.flush(), delayMs + 1).unref();
    else this.flush();
  }

  #end(): void {
    this.#isOver = true;
    this.#onOver?.();
  }
}
