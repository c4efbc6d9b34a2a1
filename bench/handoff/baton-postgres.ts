import { Fleet } from '../../test/fleet/fleet.ts';
import type { FleetHost } from '../../test/fleet/host.ts';
import { makeBaton, renderAddress } from './baton.ts';
import type { Contender, Venue } from './contender.ts';
import { openPostgres } from './postgres-venue.ts';

/** Both workers use one daemon, as with SQLite; its ledger is in PostgreSQL. */
export const batonPostgres: Contender = makeBaton('baton-postgres', 'Baton (PostgreSQL)', async () => openFleet(1));

/** The workers are on two hosts: each takes the work that the other has finished. */
export const batonTwoHosts: Contender = makeBaton('baton-hosts', 'Baton (two hosts)', async () => openFleet(2));

async function openFleet(hosts: number): Promise<Venue> {
  const database = await openPostgres();
  const { pathname, hostname } = new URL(database.address);
  const server = { socketFolder: decodeURIComponent(hostname), database: pathname.slice(1) };
  const fleet = await Fleet.open({ server, hosts, direct: true, env: { AGENT_EXIT_PROTOCOL_ENABLED: 'true' } });
  const placeOf = ({ world: { stateDir, repository } }: FleetHost) => ({ stateDir, repository });
  const { world } = fleet.founder;
  return {
    address: renderAddress({
      a: placeOf(fleet.founder),
      b: placeOf(fleet.host(hosts - 1)),
      commit: world.git(world.repository, 'rev-parse', 'HEAD'),
    }),
    async close() {
      await fleet[Symbol.asyncDispose]();
      await database.close();
    },
  };
}
