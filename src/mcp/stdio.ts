import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createClient, ensureWorkerToken } from '../api/client/connect.ts';
import { renewOwnClaims } from '../api/client/renew-claims.ts';
import { findSessionAbove } from '../api/session-above.ts';
import { findStateDir } from '../api/state-folder.ts';
import { VERSION } from '../api/version.ts';
import { type Backend, McpConnection } from './connection.ts';
import { createMcpServer } from './server.ts';

export interface StdioIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The principal whose worker token is used; by default the one that unnamed workers share. */
  readonly principal?: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly err: (text: string) => void;
  readonly autostart?: boolean;
}

/**
 * Runs `baton mcp`: an MCP server on standard input and output, until its input ends. It has a worker's rights, or
 * those of the session whose token is in its environment. It continues if the daemon stops; the outbox then keeps its
 * writes.
 */
export async function runMcpStdio(io: StdioIo): Promise<number> {
  const { env, cwd, principal, stdin, stdout, err, autostart = true } = io;
  if (env['BATON_TOKEN']?.startsWith('o.') === true) {
    err(
      "BATON_TOKEN is an operator's token, and an MCP server never acts for the operator.\n" +
        'Start it with the token of a session instead: baton task claim ID --as NAME --json\n',
    );
    return 2;
  }
  if (principal !== undefined && !env['BATON_TOKEN']) {
    const failed = await ensureWorkerToken(principal, env, autostart);
    if (failed !== undefined) {
      err(`Error: ${failed.message} [${failed.code}]\n  hint: ${failed.hint}\n`);
      return 1;
    }
  }
  const who = principal === undefined ? {} : { principal };
  const client = createClient({ env, as: 'worker', ...who, projectPath: cwd, autostart });
  // Delivers the outbox first. The handshake does not wait for that, because clients give up on servers that start
  // slowly.
  const delivered = client.reach().then(async (away) => (away === undefined ? client.deliverKept() : undefined));
  const calls = new Set<Promise<unknown>>();
  const backend: Backend = {
    call: async (...asked) => {
      const call = client.forward(...asked);
      calls.add(call);
      return call.finally(() => calls.delete(call));
    },
  };
  const stateDir = findStateDir(env);
  const isWorker = !env['BATON_TOKEN'] && findSessionAbove(stateDir, env) === undefined;
  const connection = new McpConnection(undefined, { isWorker });
  const renewing = renewOwnClaims(client, stateDir, env);
  const ended = new Promise((resolve) => {
    stdin.once('end', resolve).once('close', resolve);
  });
  const server = serveStdio(() => createMcpServer(backend, { connection, version: VERSION }), {
    transport: new StdioServerTransport(stdin, stdout),
    onerror: (error) => err(`${error.message}\n`),
  });
  await ended;
  renewing.stop();
  await server.close();
  await delivered;
  // A cancelled call may still have to release a claim with another call.
  for (; calls.size > 0; await setImmediate()) await Promise.allSettled(calls);
  client.close();
  return 0;
}
