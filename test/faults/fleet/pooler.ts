import type { FleetOptions } from '../../fleet/fleet.ts';
import { POOLER, startPooler } from '../../postgres/pooler.ts';
import { type Typed, World } from '../../processes/world.ts';
import type { Row } from './row.ts';

/**
 * A pooler that gives every transaction another session is refused by name; one that keeps sessions is accepted if the
 * URL declares it.
 */
export const pooler: Row = {
  key: 'pooler',
  name: 'pgbouncer, transaction mode',
  findObstacle: () => (POOLER === undefined ? 'pgbouncer is missing: npm run test:setup' : undefined),
  async run({ server }) {
    const place = await server();
    const refused = await tryStore(place, 'transaction', '');
    const sessions = await tryStore(place, 'session', '?pooler=session');
    const text = `${refused.out}${refused.err}`;
    return {
      faults: [
        ...(refused.code === 0 ? ['a pooler in transaction mode was accepted'] : []),
        ...(text.includes('pooler') && text.includes('pooler=session') ? [] : [`the refusal names no fix: ${text}`]),
        ...(sessions.code === 0 ? [] : [`session mode was refused: ${sessions.out}${sessions.err}`]),
      ],
      figures: POOLER ?? '',
    };
  },
};

async function tryStore(
  place: FleetOptions['server'],
  mode: 'transaction' | 'session',
  option: string,
): Promise<Typed> {
  await using between = await startPooler(mode, place);
  await using world = new World({ BATON_STORE: `${between.url}${option}`, BATON_HOST: 'alpha' });
  await world.startDaemon();
  return await world.type(['task', 'add', 'T1', '--title', 'x']);
}
