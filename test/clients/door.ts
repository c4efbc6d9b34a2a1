import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerMcp } from './mcp.ts';

/** A call of a hook; the fields are the client's own. */
interface HookCall {
  readonly name: string;
  readonly authorization: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The answer to a hook; `n` counts the calls of that hook, from 1. */
export type Answer = (call: HookCall, n: number) => object;

export interface Door extends AsyncDisposable {
  readonly url: string;
  readonly hooks: readonly HookCall[];
  /** Sets the answers from now on. */
  readonly answerWith: (answer: Answer) => void;
  readonly mcpCalls: readonly { readonly authorization: string | undefined; readonly tool: string }[];
}

/** A stand-in for an agent's supervisor: its hooks and its MCP server, on loopback. */
export async function openDoor(first: Answer): Promise<Door> {
  let answer = first;
  const hooks: HookCall[] = [];
  const mcpCalls: { authorization: string | undefined; tool: string }[] = [];
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    void readJson(request).then((input) => {
      if (request.url === '/mcp') {
        const { status, body, tool } = answerMcp(request.method, input);
        if (tool !== undefined) mcpCalls.push({ authorization, tool });
        return response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      }
      const call = { name: request.url?.split('/').at(-1) ?? '', authorization, input };
      hooks.push(call);
      const said = answer(call, hooks.filter(({ name }) => name === call.name).length);
      // Sends the body in one piece, as the supervisor does.
      const body = JSON.stringify(said);
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      return response.writeHead(200, headers).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const answerWith = (next: Answer) => void (answer = next);
  return { url: `http://127.0.0.1:${port}`, hooks, mcpCalls, answerWith, [Symbol.asyncDispose]: close };
}

/** Blocks the first `times` attempts to stop. */
export function blocks(times: number, reason = 'Go on.'): Answer {
  return ({ name }, n) => (name === 'stop' && n <= times ? { decision: 'block', reason: `${reason} (${n})` } : {});
}

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
