import type { Socket } from 'node:net';

/** Pipes two sockets into each other until both have ended, one fails, or both are silent for `idleMs`. */
export function joinSockets(one: Socket, other: Socket, idleMs: number): void {
  forward(one, other, idleMs);
  forward(other, one, idleMs);
}

function forward(from: Socket, to: Socket, idleMs: number): void {
  from.setNoDelay(true);
  from.setTimeout(idleMs, () => from.destroy());
  from.on('error', () => to.destroy());
  // A socket that ended in order has delivered everything; the other one may still be sending it.
  from.once('close', () => from.readableEnded || to.destroy());
  from.pipe(to);
}
