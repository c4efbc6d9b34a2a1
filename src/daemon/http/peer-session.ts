import { SessionFinder, type SessionAbove } from '../../api/session-above.ts';
import { readProcessTable, type ProcessTable } from '../../api/process-table.ts';
import { findPeerSocket, holdsSocket, type TcpEnds } from './tcp-peer.ts';

/** What the search asks of the machine. */
export interface PeerLookup {
  readonly table: () => ProcessTable;
  readonly peerSocket: (ends: TcpEnds) => number | 'gone' | undefined;
  readonly holds: (pid: number, socket: number) => boolean | undefined;
}

const THIS_MACHINE: PeerLookup = { table: readProcessTable, peerSocket: findPeerSocket, holds: holdsSocket };

/**
 * The session of the process at the other end of a connection on loopback. Looks only among the processes inside sessions, which are few: a
 * browser is none of them, and need not be found. `gone` if that end is closed: a process that sends its request and ends must not pass for
 * one outside. Undefined if it is outside, or if this system does not tell.
 */
export function findPeerSession(
  stateDir: string,
  ends: TcpEnds,
  machine = THIS_MACHINE,
): SessionAbove | 'gone' | undefined {
  const socket = machine.peerSocket(ends);
  if (socket === undefined || socket === 'gone') return socket;
  const found = searchHolder(stateDir, socket, machine);
  if (found !== undefined) return found;
  // A process that ended while we looked was not found for that reason alone.
  return machine.peerSocket(ends) === socket ? undefined : 'gone';
}

function searchHolder(stateDir: string, socket: number, { table: read, holds }: PeerLookup): SessionAbove | undefined {
  const table = read();
  const finder = new SessionFinder(stateDir, table);
  const seen = new Set<number>();
  let hidden: SessionAbove | undefined;
  let last: SessionAbove | undefined;
  // A process may hand its socket to a child and end. Look until nothing new has come inside.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    last = undefined;
    for (const pid of table.list()) {
      if (seen.has(pid)) continue;
      seen.add(pid);
      const above = finder.find(pid);
      if (above === undefined) continue;
      last = above;
      const isHolder = holds(pid, socket);
      if (isHolder === true) return above;
      if (isHolder === undefined) hidden = above;
    }
    if (last === undefined) break;
  }
  if (last !== undefined) return last;
  // Some programs, such as agents for keys, let no other process look at their files. Then the holder must be found outside.
  if (hidden === undefined || [...seen].some((pid) => holds(pid, socket) === true)) return undefined;
  return hidden;
}

/** A session that starts processes faster than this many looks can follow is not waited for. */
const MAX_ROUNDS = 20;
