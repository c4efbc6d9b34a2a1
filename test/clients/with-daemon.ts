import type { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import type { Told } from '../../src/daemon/runs.cases.ts';
import type { Script } from '../models/script.ts';
import type { ClientCase } from './client.cases.ts';
import { blocks } from './door.ts';
import { CLIENTS } from './run-agent.ts';
import { openWorld, type World } from './world.ts';

/**
 * The shell from which the user started the daemon: the client on its PATH, a separate home, and the scripted model's
 * address.
 */
export function shellOf(client: Pick<ClientCase, 'env'>, world: World): Record<string, string> {
  return {
    HOME: world.home,
    PATH: `${CLIENTS}:/usr/bin:/bin`,
    TMPDIR: world.temporary,
    ...client.env(world),
  };
}

export async function openUser(client: Pick<ClientCase, 'startModel' | 'setUp'>, script: Script): Promise<World> {
  const world = await openWorld(client.startModel, script, blocks(0));
  client.setUp(world);
  return world;
}

/** The first entry of a type, as soon as it is recorded. */
export async function entryOf(scene: RunScene, type: string, timeoutMs = 30_000): Promise<Told> {
  let found: Told | undefined;
  const look = async (): Promise<boolean> => {
    found = (await scene.entries()).find((each) => each.type === type);
    return found !== undefined;
  };
  await until(look, `${type} is recorded`, timeoutMs);
  if (found === undefined) throw new Error(`no ${type}`);
  return found;
}

export const EXIT = (phase: string): string =>
  `baton emit exit '{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"${phase}","exit_reason":"completed"}'`;

export const COMPLETE = `baton emit agent:signal '{"kind":"complete"}'`;
