import type { FleetOptions } from '../../fleet/fleet.ts';

/** One line of the table of faults. */
export interface Row {
  readonly key: string;
  readonly name: string;
  /** What this machine lacks for it; undefined if it can run. */
  readonly findObstacle?: () => string | undefined;
  readonly run: (stage: Stage) => Promise<Outcome>;
}

export interface Stage {
  /** A new database of a server that the row shares with others. Rows that stop a server start one of their own. */
  readonly server: () => Promise<FleetOptions['server']>;
  readonly hosts: number;
  /** The part of it that runs with every `npm test`: two hosts without process ids of their own, few rounds. */
  readonly isSmall: boolean;
}

export interface Outcome {
  /** What did not hold, one sentence each. */
  readonly faults: readonly string[];
  readonly figures: string;
}
