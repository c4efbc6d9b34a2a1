import { startPostgres } from '../../test/postgres/server.ts';
import type { Venue } from './contender.ts';

/** A PostgreSQL of its own for one race: every commit waits for the disk. */
export async function openPostgres(): Promise<Venue> {
  const server = await startPostgres({
    fsync: true,
    settings: { synchronous_commit: 'on', shared_buffers: '256MB', max_connections: '200' },
  });
  return { address: await server.createDatabase(), close: async () => server.stop() };
}
