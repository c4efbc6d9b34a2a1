import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findPeerSession, type PeerLookup } from './peer-session.ts';

let stateDir: string;
beforeAll(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'baton-peer-'));
  mkdirSync(join(stateDir, 'agents', 'a1'), { recursive: true });
});
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

const ENDS = { remoteAddress: '127.0.0.1', remotePort: 1, localAddress: '127.0.0.1', localPort: 2 };
const SOCKET = 77;

interface Scene {
  /** The processes inside the session at each inspection. */
  readonly inside: (look: number) => readonly number[];
  /** The processes that hold the socket. Negative: the process cannot be inspected. */
  readonly holders: readonly number[];
  readonly exiting?: readonly number[];
  readonly sockets?: readonly (number | 'gone' | undefined)[];
}

const BROWSER = 10;

function judge({ inside, holders, exiting = [], sockets = [SOCKET] }: Scene) {
  let looks = 0;
  let asked = 0;
  const machine: PeerLookup = {
    table: () => ({
      find: () => ({ parent: 1, group: 0, session: 0 }),
      environmentOf: (pid) => (pid >= 100 ? '\0BATON_AGENT_ID=a1\0' : ''),
      commandOf: () => '',
      list: () => [1, BROWSER, ...inside(looks++)],
    }),
    peerSocket: () => sockets[Math.min(asked++, sockets.length - 1)],
    isExiting: (pid) => exiting.includes(pid),
    holds: (pid, socket) => (holders.includes(-pid) ? undefined : socket === SOCKET && holders.includes(pid)),
  };
  return findPeerSession(stateDir, ENDS, machine);
}

it('finds the process inside a session that holds the peer socket', () => {
  expect(judge({ inside: () => [100, 101], holders: [101] })).toMatchObject({ id: 'a1' });
});

it('allows a browser, with and without running sessions', () => {
  expect(judge({ inside: () => [100, 101], holders: [BROWSER] })).toBeUndefined();
  expect(judge({ inside: () => [], holders: [BROWSER] })).toBeUndefined();
});

it('reports a socket closed before or during the search as gone', () => {
  expect(judge({ inside: () => [], holders: [], sockets: ['gone'] })).toBe('gone');
  expect(judge({ inside: () => [100], holders: [], sockets: [SOCKET, 'gone'] })).toBe('gone');
  expect(judge({ inside: () => [100], holders: [], sockets: [SOCKET, 78] })).toBe('gone');
});

it('refuses while an exiting process has an open socket without an owner', () => {
  expect(judge({ inside: () => [100], holders: [], exiting: [100] })).toBe('gone');
  expect(judge({ inside: () => [], holders: [], exiting: [1] })).toBe('gone');
  expect(judge({ inside: () => [100], holders: [BROWSER], exiting: [100] })).toBeUndefined();
});

it('finds a process that was started during the search', () => {
  expect(judge({ inside: (look) => (look === 0 ? [100] : [102]), holders: [102] })).toMatchObject({ id: 'a1' });
});

it('refuses if the session starts processes faster than the search', () => {
  expect(judge({ inside: (look) => [100 + look], holders: [] })).toMatchObject({ id: 'a1' });
});

it('treats a process that cannot be inspected as the holder, unless the holder is found outside', () => {
  expect(judge({ inside: () => [100], holders: [-100] })).toMatchObject({ id: 'a1' });
  expect(judge({ inside: () => [100], holders: [-100, BROWSER] })).toBeUndefined();
});

it('allows every caller on a system that reports no sockets', () => {
  expect(judge({ inside: () => [100], holders: [100], sockets: [undefined] })).toBeUndefined();
});
