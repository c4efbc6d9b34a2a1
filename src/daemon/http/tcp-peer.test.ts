import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { findPeerSocket, findPeerUser, holdsSocket } from './peer-session.ts';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0000000000000000 100 0 0 10 0
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 22 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 33 1 0000000000000000 20 4 30 10 -1
   3: 0100007F:C351 0100007F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0000000000000000
   4: 0200007F:C352 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 44 1 0000000000000000 20 4 30 10 -1
   0: 0000000000000000FFFF00000100007F:C353 0000000000000000FFFF00000100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 55 1 0 20 4 30 10 -1
`;

function find(remotePort: number, remoteAddress = '127.0.0.1', table: string | undefined = TABLE) {
  return findPeerSocket({ remoteAddress, remotePort, localAddress: '127.0.0.1', localPort: 8080 }, () => table);
}

it("finds the peer's socket in the kernel's table", () => {
  expect(find(50_000)).toBe(22);
  expect(find(50_002, '127.0.0.2')).toBe(44);
  expect(find(50_003)).toBe(55);
});

it('reports a peer as gone if no process holds the socket, or there is none', () => {
  expect(find(50_001)).toBe('gone');
  expect(find(50_002)).toBe('gone');
  expect(find(1)).toBe('gone');
});

it('returns undefined on a system without such a table', () => {
  const ends = { remoteAddress: '127.0.0.1', remotePort: 1, localAddress: '127.0.0.1', localPort: 2 };
  expect(findPeerSocket(ends, () => undefined)).toBeUndefined();
  expect(findPeerUser(ends, () => undefined)).toBeUndefined();
});

it('finds the user of the peer, and reports a peer that is gone', () => {
  const user = (remotePort: number, remoteAddress = '127.0.0.1') =>
    findPeerUser({ remoteAddress, remotePort, localAddress: '127.0.0.1', localPort: 8080 }, () => TABLE);
  expect([user(50_000), user(50_002, '127.0.0.2'), user(50_003)]).toEqual([1000, 1000, 1000]);
  expect([user(50_001), user(1)]).toEqual(['gone', 'gone']);
});

it.runIf(process.platform === 'linux')('knows which process holds a real connection', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', '::ffff:127.0.0.1']) {
    const accepted: Promise<Socket[]> = once(server, 'connection');
    const client = connect(port, host);
    const [socket] = await accepted;
    const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = socket ?? {};
    const found = findPeerSocket({ remoteAddress, remotePort, localAddress, localPort });
    expect(found).toBeTypeOf('number');
    expect(holdsSocket(process.pid, Number(found))).toBe(true);
    expect(holdsSocket(process.ppid, Number(found))).toBe(false);
    expect(holdsSocket(2 ** 22 + 1, Number(found))).toBe(false);
    client.destroy();
    socket?.destroy();
  }
  server.close();
});
