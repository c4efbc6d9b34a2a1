import type { Event } from '../../state/event.ts';
import { ENTRY_LEVELS } from '../../state/fleet/entry-levels.ts';
import { findFleet } from '../../state/fleet/fleet.ts';
import type { Refusal } from '../../state/outcome.ts';
import type { EngineContext } from '../context.ts';

type Levels = Pick<EngineContext, 'state' | 'levels'>;

/** Thrown for an entry that some host of the fleet cannot read yet. Nothing of the request may be recorded. */
export class AboveLevel extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = 'AboveLevel';
    this.refusal = refusal;
  }
}

/** On SQLite every level may be written, because the only host is the one that writes. */
export function findAboveLevel(
  { state, levels = ENTRY_LEVELS }: Levels,
  events: readonly Event[],
): Refusal | undefined {
  const level = findFleet(state)?.level ?? Infinity;
  const above = events.find(({ type }) => (levels[type] ?? 1) > level);
  if (above === undefined) return undefined;
  const message = `${above.type} is an entry of level ${levels[above.type] ?? 1}, and this ledger is at level ${level}`;
  return { code: 'above-level', message: `${message}: waits until every host knows it`, hint: HINT };
}

const HINT = 'Upgrade the other hosts; see their versions: baton status --fleet';

export function requireLevel(world: Levels, events: readonly Event[]): void {
  const waiting = findAboveLevel(world, events);
  if (waiting !== undefined) throw new AboveLevel(waiting);
}
