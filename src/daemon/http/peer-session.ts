import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { endianness } from 'node:os';
import { isLiving, type ProcessTable, readProcessTable, readProcStat } from '../../api/processes.ts';
import { type SessionAbove, SessionFinder } from '../../api/session-above.ts';

/** The two ends of a connection on loopback, as the daemon sees them. */
export interface TcpEnds {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}

/**
 * The number of the socket at the other end of a connection. `gone` if no process has it any more; undefined if this system does not tell.
 */
export function findPeerSocket(ends: TcpEnds, read = readTcpTables): number | 'gone' | undefined {
  const table = read();
  if (table === undefined) return undefined;
  const peer = `${hexOf(ends.remoteAddress)}:${hexPort(ends.remotePort)}`;
  const own = `${hexOf(ends.localAddress)}:${hexPort(ends.localPort)}`;
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/);
    // A client's socket may be one for IPv6 with an IPv4 address in it.
    if (local.replace(MAPPED, '') === peer && remote.replace(MAPPED, '') === own) return Number(inode) || 'gone';
  }
  return 'gone';
}

/** Whether a process has this socket open; undefined if it lives and does not let us look. */
export function holdsSocket(pid: number, socket: number): boolean | undefined {
  const name = `socket:[${socket}]`;
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => readLink(`/proc/${pid}/fd/${fd}`) === name);
  } catch {
    const stat = readProcStat(pid);
    return stat !== undefined && isLiving(stat) ? undefined : false;
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Undefined if there is no /proc. */
function readTcpTables(): string | undefined {
  try {
    return `${readFileSync('/proc/self/net/tcp', 'latin1')}\n${readTcp6Table()}`;
  } catch {
    return undefined;
  }
}

/** A machine without IPv6 has no such file. */
function readTcp6Table(): string {
  try {
    return readFileSync('/proc/self/net/tcp6', 'latin1');
  } catch {
    return '';
  }
}

const MAPPED = /^0{16}(?:FFFF0000|0000FFFF)/;

/** The kernel writes the four bytes of an IPv4 address as one number, in the machine's own order. */
function hexOf(address: string): string {
  const parts = address.replace('::ffff:', '').split('.').map(Number);
  return Buffer.from(endianness() === 'LE' ? parts.toReversed() : parts)
    .toString('hex')
    .toUpperCase();
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

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
