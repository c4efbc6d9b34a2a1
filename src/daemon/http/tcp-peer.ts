import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { endianness } from 'node:os';
import { isLiving, readProcStat } from '../../api/processes.ts';

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
