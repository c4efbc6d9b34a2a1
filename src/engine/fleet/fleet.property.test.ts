import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../../state/event.ts';
import { SPEECHES } from '../speech.cases.ts';
import { FleetPlay } from './fleet-play.cases.ts';

/** For more runs: `BATON_FLEET_RUNS=20000 vitest run src/engine/fleet/fleet.property`. */
const numRuns = Number(process.env['BATON_FLEET_RUNS'] ?? 100);

type Act = (play: FleetPlay) => void;
const index = fc.nat({ max: 1000 });
const hows = fc.constantFrom('well', 'well', 'badly', 'late');

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(index, fc.oneof(...SPEECHES)).map(
      ([i, speech]): Act =>
        (play) =>
          play.speak(i, speech),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(index, index, hows).map(
      ([i, n, how]): Act =>
        (play) =>
          play.host(i).perform(n, how),
    ),
  },
  {
    weight: 5,
    arbitrary: index.map(
      (i): Act =>
        (play) =>
          play.host(i).report(),
    ),
  },
  {
    weight: 3,
    arbitrary: index.map(
      (i): Act =>
        (play) =>
          play.host(i).catchUp(),
    ),
  },
  {
    weight: 3,
    arbitrary: index.map(
      (i): Act =>
        (play) =>
          play.host(i).lookAround(),
    ),
  },
  {
    weight: 1,
    arbitrary: index.map(
      (i): Act =>
        (play) =>
          play.care(play.host(i)),
    ),
  },
  {
    weight: 1,
    arbitrary: index.map(
      (i): Act =>
        (play) =>
          play.expire(i),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(index, fc.boolean()).map(
      ([i, is]): Act =>
        (play) =>
          play.push(i, is),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(index, fc.constantFrom('drain', 'take back', 'take back', 'remove', 'admit', 'admit')).map(
      ([i, what]): Act =>
        (play) =>
          play.govern(i, what),
    ),
  },
);

describe('hosts with their own folds of one chain, in any order', () => {
  it(
    'grant no task twice, start no agent twice, and give each effect one owner',
    () => {
      const seen = new Map<string, number>();
      fc.assert(
        fc.property(fc.array(acts, { minLength: 30, maxLength: 120, size: 'max' }), (story) => {
          const play = new FleetPlay(['alpha', 'beta', 'gamma'], { maxAgents: 5 });
          for (const act of story) act(play);
          for (const host of play.hosts) host.catchUp();
          const [first, ...others] = play.hosts;
          if (others.some(({ state }) => !isDeepStrictEqual(state, first?.state)))
            throw new Error(`the folds differ\n${first?.story() ?? ''}`);
          expect(findGrantedTwice(play.shared.chain)).toEqual([]);
          for (const { type } of play.shared.chain) seen.set(type, (seen.get(type) ?? 0) + 1);
        }),
        { numRuns },
      );
      // The property proves little unless the stories reach these.
      const wanted = ['TaskClaimed', 'AgentStarted', 'ClaimExpired', 'HostRemoved', 'ClaimRevoked', 'WorkPushed'];
      expect(wanted.filter((type) => !seen.has(type))).toEqual([]);
    },
    60_000 + 200 * numRuns,
  );
});

/** Finds claims under a live claim, and runs with a reused id. */
function findGrantedTwice(chain: readonly RecordedEvent[]): string[] {
  const held = new Map<string, number>();
  const begun = new Set<string>();
  return chain.flatMap(({ type, data, seq }) => {
    if (type === 'TaskClaimed' || type === 'ClaimRestored') {
      const isTwice = held.has(data.task_id);
      held.set(data.task_id, data.epoch);
      return isTwice ? [`${seq}: ${data.task_id} is claimed twice`] : [];
    }
    if (type.startsWith('Claim') && 'task_id' in data && data.task_id !== null) held.delete(data.task_id);
    const id = type === 'AgentRequested' ? data.agent_id : type === 'PipelineStarted' ? data.pipeline_id : undefined;
    if (id === undefined) return [];
    const isTwice = begun.has(`${type} ${id}`);
    begun.add(`${type} ${id}`);
    return isTwice ? [`${seq}: ${id} is requested twice`] : [];
  });
}
