import { startPostgres, type PostgresServer } from '../../test/postgres/server.ts';
import type { Venue } from './contender.ts';

/**
 * Opens a separate PostgreSQL for one race, or a database on the server that all races share. Every commit is synced to
 * disk.
 */
export async function openPostgres(): Promise<Venue> {
  if (shared !== undefined) return { address: await shared.createDatabase(), close: async () => {} };
  const server = await startDurable();
  return { address: await server.createDatabase(), close: async () => server.stop() };
}

let shared: PostgresServer | undefined;

/** Starts one server for all later contenders, until the returned function is called. */
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
