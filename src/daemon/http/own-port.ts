import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SERVER_LIMITS } from '../limits.ts';
import { readSavedPort, savePort } from './connections.ts';
import { findPortHolder, type PortHolder } from './port-holder.ts';

export interface OwnPort {
  readonly port: number;
  /** Set if another program has the previous port of this state folder. */
  readonly taken?: { readonly from: number; readonly holder: PortHolder | undefined };
}

/**
 * Listens on the port of the state folder, on which addresses, webhooks and the keys of pages depend. If another
 * program has it, the folder permanently gets another port, because that program may have received what was sent to the
 * old one.
 */
export async function listenOnOwnPort(server: Server, stateDir: string): Promise<OwnPort> {
  const saved = readSavedPort(stateDir);
  const isOurs = saved !== 0 && (await canListen(server, saved));
  const holder = saved === 0 || isOurs ? undefined : findPortHolder(saved);
  if (!isOurs) await listenAnywhere(server);
  const port = portOf(server);
  savePort(stateDir, port);
  return saved === 0 || isOurs ? { port } : { port, taken: { from: saved, holder } };
}

/**
 * Uses a port below the range for outgoing connections, because one of those could occupy the port at the next start.
 */
async function listenAnywhere(server: Server): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) if (await canListen(server, randomInt(FIRST_PORT, LAST_PORT))) return;
  await listenAt(server, { host: LOOPBACK, port: 0 });
}

async function canListen(server: Server, port: number): Promise<boolean> {
  try {
    await listenAt(server, { host: LOOPBACK, port });
    return true;
  } catch {
    return false;
  }
}

export async function listenAt(
  server: Server,
  where: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<void> {
  server.listen({ ...where, backlog: SERVER_LIMITS.connections });
  await once(server, 'listening');
}

export function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const LOOPBACK = '127.0.0.1';
const FIRST_PORT = 20_000;
const LAST_PORT = 30_000;
const MAX_TRIES = 20;
