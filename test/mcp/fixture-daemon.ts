import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AccessChecks, checkAccess } from '../../src/daemon/http/access.ts';
import { readBody } from '../../src/api/http/request.ts';
import { sendAnswer } from '../../src/api/http/respond.ts';
import { closeSignal, createMcpHttp, sendResponse, toWebRequest } from '../../src/mcp/http.ts';
import { fixtureServer } from './fixture-server.ts';

export interface FixtureDaemon extends AsyncDisposable {
  readonly port: number;
}

/** The daemon's access checks and transport, with the tools of the conformance suite instead of Baton's. */
export async function startFixtureDaemon(gatekeepers: AccessChecks): Promise<FixtureDaemon> {
  const http = createMcpHttp(fixtureServer, { maxSessions: 100 });
  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const admitted = checkAccess(request, { port: portOf() }, gatekeepers);
      if (!admitted.ok) return sendAnswer(response, admitted);
      const body = request.method === 'POST' ? await readBody(request) : undefined;
      if (body === 'gone' || body?.ok === false) return sendAnswer(response, { ok: true, result: null });
      const gone = closeSignal(response);
      const text = body === undefined ? undefined : Buffer.from(body.bytes).toString('utf8');
      const parsed: unknown = text === undefined ? undefined : JSON.parse(text);
      const guarded = { request: toWebRequest(request, text, gone), body: parsed, token: 'x', projectPath: undefined };
      await sendResponse(await http.handle(guarded), response, gone);
    };
    void serve();
  });
  const portOf = (): number => (server.address() as AddressInfo).port; // oxlint-disable-line typescript/no-unsafe-type-assertion
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: portOf(),
    [Symbol.asyncDispose]: async () => {
      await http.close();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
