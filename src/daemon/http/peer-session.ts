import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { endianness } from 'node:os';
import { readFileIfPresent } from '../../api/files.ts';
import { isLiving, readProcessTable, readProcStat } from '../../api/processes.ts';
import { type SessionAbove, SessionFinder } from '../../api/session-above.ts';

export interface TcpEnds {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}

/**
 * Returns the inode of the peer's socket; `gone` if no process holds it, undefined if the system does not report it.
 */
export function findPeerSocket(ends: TcpEnds, read = readTcpTables): number | 'gone' | undefined {
  const table = read();
  if (table === undefined) return undefined;
  return Number(findPeerRow(ends, table)?.inode) || 'gone';
}

/**
 * Returns the user at the other end of a loopback connection; `gone` if no process holds the socket, undefined if the
 * system does not report it.
 */
export function findPeerUser(ends: TcpEnds, read = readTcpTables): number | 'gone' | undefined {
  const table = read();
  if (table === undefined) return undefined;
  const row = findPeerRow(ends, table);
  // A socket that no process holds any more is listed as root's.
  return row === undefined || Number(row.inode) === 0 ? 'gone' : Number(row.user);
}

function findPeerRow(ends: TcpEnds, table: string): { readonly user: string; readonly inode: string } | undefined {
  const peer = `${hexOf(ends.remoteAddress)}:${hexPort(ends.remotePort)}`;
  const own = `${hexOf(ends.localAddress)}:${hexPort(ends.localPort)}`;
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', , , , , user = '', , inode = ''] = line.trim().split(/\s+/);
    // The client's socket may be IPv6 with a mapped IPv4 address.
    if (local.replace(MAPPED, '') === peer && remote.replace(MAPPED, '') === own) return { user, inode };
  }
  return undefined;
}

/** Whether a process holds this socket; undefined if the process lives but cannot be inspected. */
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

export function readTcpTables(): string | undefined {
  try {
    // The second file does not exist on a machine without IPv6.
    return `${readFileSync('/proc/self/net/tcp', 'latin1')}\n${readFileIfPresent('/proc/self/net/tcp6')}`;
  } catch {
    return undefined;
  }
}

const MAPPED = /^0{16}(?:FFFF0000|0000FFFF)/;

/** The kernel prints the four bytes of an IPv4 address as one number in the machine's byte order. */
function hexOf(address: string): string {
  const parts = address.replace('::ffff:', '').split('.').map(Number);
  return Buffer.from(endianness() === 'LE' ? parts.toReversed() : parts)
    .toString('hex')
    .toUpperCase();
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

const THIS_MACHINE = {
  table: readProcessTable,
  peerSocket: findPeerSocket,
  holds: holdsSocket,
  isExiting: (pid: number): boolean => {
    const stat = readProcStat(pid);
    // The first thread of a killed process may be a zombie while other threads still close its files.
    return stat !== undefined && stat.isExiting && (isLiving(stat) || stat.threads > 1);
  },
};

export type PeerLookup = typeof THIS_MACHINE;

/**
 * Finds the session of the peer of a loopback connection. Searches only processes inside sessions, which are few.
 * Returns `gone` if the peer closed its end, because a process that sends a request and exits must not count as
 * outside. Returns undefined if the peer is outside any session, or if the system does not report it.
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
  // While a killed process exits, its sockets briefly stay open without an owner. Then the holder must be found.
  const processes = machine.table().list();
  const isDoubtful = processes.some(machine.isExiting);
  // The search would miss a process that exited in between.
  if (machine.peerSocket(ends) !== socket) return 'gone';
  return isDoubtful && !processes.some((pid) => machine.holds(pid, socket) === true) ? 'gone' : undefined;
}

function searchHolder(stateDir: string, socket: number, { table: read, holds }: PeerLookup): SessionAbove | undefined {
  const table = read();
  const finder = new SessionFinder(stateDir, table);
  const seen = new Set<number>();
  let hidden: SessionAbove | undefined;
  let last: SessionAbove | undefined;
  // A process may pass its socket to a child and exit, so the search repeats until no new process appears.
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
  // Some programs, such as ssh-agent, forbid inspection. Then the holder must be found among the processes outside.
  if (hidden === undefined || [...seen].some((pid) => holds(pid, socket) === true)) return undefined;
  return hidden;
}

/** Limits the search of a session that starts processes faster than the search can follow. */
const MAX_ROUNDS = 20;
