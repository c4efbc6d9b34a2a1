import { startPostgres, type PostgresServer } from '../../test/postgres/server.ts';
import type { Venue } from './contender.ts';

/** A PostgreSQL of its own for one race, or a database of the server that all races share: every commit waits for the disk. */
export async function openPostgres(): Promise<Venue> {
  if (shared !== undefined) return { address: await shared.createDatabase(), close: async () => {} };
  const server = await startDurable();
  return { address: await server.createDatabase(), close: async () => server.stop() };
}

let shared: PostgresServer | undefined;

/** One server for every contender from now on, until what comes back is called. */
export async function shareServer(): Promise<{ readonly server: PostgresServer; readonly stop: () => Promise<void> }> {
  const server = await startDurable();
  shared = server;
  return {
    server,
    async stop() {
      shared = undefined;
      await server.stop();
    },
  };
}

async function startDurable(): Promise<PostgresServer> {
  return startPostgres({
    fsync: true,
    settings: { synchronous_commit: 'on', shared_buffers: '256MB', max_connections: '1200' },
  });
}
