import { describe, expect, it } from 'vitest';
import { findPortHolder } from './port-holder.ts';

const TABLES = `
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4E21 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 71 1
   1: 0100007F:4E21 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 72 1
   2: 0100007F:4E22 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 73 1
`;

const machine = {
  tables: () => TABLES,
  pids: () => [10, 11],
  holds: (pid: number, socket: number) => (pid === 10 && socket === 71) || (pid === 11 && socket === 72),
  program: () => 'node',
  command: (pid: number) => (pid === 11 ? '\0node\0server.js\0\u001b[31m' : ''),
};

describe('the process that has a port', () => {
  it('is the one that listens, by its command line', () => {
    expect(findPortHolder(20_001, machine)).toEqual({ pid: 11, program: 'node', command: 'node server.js [31m' });
  });

  it('is unknown if no process can be seen to hold its socket', () => {
    expect(findPortHolder(20_002, machine)).toBeUndefined();
    expect(findPortHolder(20_003, machine)).toBeUndefined();
    expect(findPortHolder(20_001, { ...machine, tables: () => '' })).toBeUndefined();
  });

  it('is named by its program if its command line cannot be read', () => {
    const other = { ...machine, holds: (pid: number) => pid === 10 };
    expect(findPortHolder(20_001, other)).toMatchObject({ pid: 10, command: 'node' });
  });
});
