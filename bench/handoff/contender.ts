/** A system that passes work from one worker to another. */
export interface Contender {
  readonly key: string;
  /** The name in the results. */
  readonly name: string;
  /** Returns what is not installed; empty if the system can take part. */
  readonly findMissing: () => readonly string[];
  /** Starts the system's servers in separate processes. */
  readonly open: () => Promise<Venue>;
  /** Called before the race in seat a's process: adds the batons for seat a. */
  readonly fill: (seat: Seat) => Promise<void>;
  /** Called in a worker's process: takes jobs and hands them on until `leave` is called. */
  readonly join: (seat: Seat) => Promise<Leave>;
}

export interface Venue {
  /** Everything that a worker needs to connect, as text. */
  readonly address: string;
  readonly close: () => Promise<void>;
}

export type Leave = () => Promise<void>;

/** A race: the number of batons, and its two limits, of which the first one reached ends it. */
export interface Race {
  readonly batons: number;
  /** How long the work on a job takes. */
  readonly workMs: number;
  readonly handoffs: number;
  readonly limitMs: number;
}

/** A worker's place in a race. Jobs are numbered: after round n, round n + 1 is handed on. */
export interface Seat extends Race {
  readonly address: string;
  readonly mine: 'a' | 'b';
  readonly theirs: 'a' | 'b';
  /**
   * Called when a job has arrived: records the time and does the work, which takes a moment if there is only one baton.
   */
  readonly work: (round: number) => Promise<void>;
  /**
   * Called when the work is done: starts the time of the handoff. Returns false if the race is over and nothing is
   * handed on.
   */
  readonly handOn: (round: number) => boolean;
}
