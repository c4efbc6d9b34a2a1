import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** False in a network namespace whose interface `lo` is down: agents could not reach their supervisors. */
export async function reachesLoopback(): Promise<boolean> {
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen(0, HOST), 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const socket = connect(port, HOST);
    await once(socket, 'connect');
    socket.destroy();
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

const HOST = '127.0.0.1';
