/** One system that passes work from one worker to another. */
export interface Contender {
  readonly key: string;
  /** As it is named in the results. */
  readonly name: string;
  /** What is not installed; empty if it can take part. */
  readonly findMissing: () => readonly string[];
  /** Starts its servers, in processes of their own. */
  readonly open: () => Promise<Venue>;
  /** Before the race, in the process of seat a: puts the batons where seat a will take them up. */
  readonly fill: (seat: Seat) => Promise<void>;
  /** In a worker's process: takes up jobs and hands them on until `leave`. */
  readonly join: (seat: Seat) => Promise<Leave>;
}

export interface Venue {
  /** All that a worker needs to know, as text. */
  readonly address: string;
  readonly close: () => Promise<void>;
}

export type Leave = () => Promise<void>;

/** A race: how many batons go round, and when it is over, whichever comes first. */
export interface Race {
  readonly batons: number;
  /** How long the work on a job takes. */
  readonly workMs: number;
  readonly handoffs: number;
  readonly limitMs: number;
}

/** A worker's place in a race. Jobs are numbered: what is handed on after round n is round n + 1. */
export interface Seat extends Race {
  readonly address: string;
  readonly mine: 'a' | 'b';
  readonly theirs: 'a' | 'b';
  /** A job has arrived: records the time and does the work, which takes a moment if there is only one baton. */
  readonly work: (round: number) => Promise<void>;
  /** The work is done, and the clock of the handoff runs. False if the race is over and nothing is handed on. */
  readonly handOn: (round: number) => boolean;
}
