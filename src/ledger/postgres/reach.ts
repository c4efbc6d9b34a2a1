/** Whether the server answers, as the connections of one database see it together. */
export interface Reach {
  /** How long a statement may wait now. While the server is known to be away, others have waited for it already. */
  readonly patienceMs: number;
  answered(): void;
  missed(): void;
}

export function makeReach(patienceMs: number): Reach {
  let isAway = false;
  return {
    get patienceMs() {
      return isAway ? patienceMs / AWAY_SHARE : patienceMs;
    },
    answered() {
      isAway = false;
    },
    missed() {
      isAway = true;
    },
  };
}

/** An append that finds the server away reads the head on another connection: together they must stay below 2 s. */
const AWAY_SHARE = 6;
