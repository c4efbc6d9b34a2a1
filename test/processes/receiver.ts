import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** A webhook that records notifications. */
export class Receiver implements AsyncDisposable {
  readonly #server: Server;
  readonly #heard: Heard[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        const { text }: { text?: unknown } = Object(JSON.parse(body));
        this.#heard.push({ id: String(request.headers['baton-notification-id']), text: String(text) });
        response.end('ok');
      });
    });
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
  }

  /** Every request, including repeats. */
  get heard(): readonly Heard[] {
    return this.#heard;
  }

  /** The notifications with this title. */
  about(title: string): string[] {
    return this.#heard.map(({ text }) => text).filter((text) => text.startsWith(`*${title}*\n`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export interface Heard {
  readonly id: string;
  readonly text: string;
}
