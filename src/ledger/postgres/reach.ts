/** Whether the server answers, shared by the connections of one database. */
export interface Reach {
  /**
   * How long a statement may wait now: shorter once the server is known to be away, because earlier statements have
   * waited already.
   */
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

/** An append that finds the server away also reads the head on another connection; both must finish within 2 s. */
const AWAY_SHARE = 6;
