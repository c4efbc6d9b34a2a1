import { readProcessTable, readProcStat } from '../../api/processes.ts';
import { isShortage } from '../../protocol/resource-faults.ts';
import { holdsSocket, readTcpTables } from './peer-session.ts';

export interface PortHolder {
  readonly pid: number;
  readonly program: string;
  /** The command line, truncated. */
  readonly command: string;
}

const THIS_MACHINE = {
  tables: readTcpTables,
  pids: (): readonly number[] => readProcessTable().list(),
  holds: (pid: number, socket: number): boolean => holdsSocket(pid, socket) === true,
  program: (pid: number): string => readProcStat(pid)?.program ?? '',
  command: (pid: number): string => readProcessTable().commandOf(pid),
};

/**
 * Returns the process that listens on a port of this machine; undefined if the system does not report it, as for
 * another user's process.
 */
export function findPortHolder(port: number, machine = THIS_MACHINE): PortHolder | undefined {
  try {
    const sockets = socketsOn(port, machine.tables() ?? '');
    for (const socket of sockets) {
      const pid = machine.pids().find((each) => machine.holds(each, socket));
      if (pid === undefined) continue;
      const command = machine
        .command(pid)
        .replaceAll(/[\p{Cc}\s]+/gu, ' ')
        .trim()
        .slice(0, MAX_COMMAND);
      const program = machine.program(pid);
      return { pid, program, command: command === '' ? program : command };
    }
    return undefined;
  } catch (error) {
    if (isShortage(error)) return undefined;
    throw error;
  }
}

/** The inodes of the sockets on this local port, listening ones first. */
function socketsOn(port: number, tables: string): readonly number[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const found = tables.split('\n').flatMap((line) => {
    const [, local = '', , state = '', , , , , , inode] = line.trim().split(/\s+/);
    return local.endsWith(suffix) && Number(inode) > 0 ? [{ inode: Number(inode), listens: state === LISTEN }] : [];
  });
  return found.toSorted((a, b) => Number(b.listens) - Number(a.listens)).map(({ inode }) => inode);
}

const LISTEN = '0A';
const MAX_COMMAND = 120;
