import { createServer, request as sendRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenProxy extends AsyncDisposable {
  readonly url: string;
}

/**
 * A proxy on loopback that adds headers, for clients that cannot send them. Host and Origin of the proxy are replaced
 * by the daemon's; everything else is passed on unchanged, so that the daemon's own checks are tested.
 */
export async function startTokenProxy(port: number, added: Readonly<Record<string, string>>): Promise<TokenProxy> {
  const server = createServer((incoming, outgoing) => {
    const own = `127.0.0.1:${(server.address() as AddressInfo).port}`; // oxlint-disable-line typescript/no-unsafe-type-assertion
    const headers = { ...renamed(incoming.headers, own, `127.0.0.1:${port}`), ...added };
    const { method, url: path } = incoming;
    const onward = sendRequest({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port: ownPort } = server.address() as AddressInfo; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return {
    url: `http://127.0.0.1:${ownPort}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function renamed({ host, origin, ...rest }: IncomingHttpHeaders, own: string, theirs: string): IncomingHttpHeaders {
  return {
    ...rest,
    ...(host === undefined ? {} : { host: host === own ? theirs : host }),
    ...(origin === undefined ? {} : { origin: origin === `http://${own}` ? `http://${theirs}` : origin }),
  };
}
