import type { FleetOptions } from '../../fleet/fleet.ts';

/** One line of the table of faults. */
export interface Row {
  readonly key: string;
  readonly name: string;
  /** Why this machine cannot run the row; undefined if it can. */
  readonly findObstacle?: () => string | undefined;
  readonly run: (stage: Stage) => Promise<Outcome>;
}

export interface Stage {
  /** A new database on a server that rows share. Rows that stop a server start a separate one. */
  readonly server: () => Promise<FleetOptions['server']>;
  readonly hosts: number;
  /** Set for the part that runs with every `npm test`: two hosts without separate process ids, few rounds. */
  readonly isSmall: boolean;
}

export interface Outcome {
  /** The violated expectations, one sentence each. */
  readonly faults: readonly string[];
  readonly figures: string;
}
