import { healthAfter, type StoreHealth, WRITABLE } from '../../protocol/resource-faults.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import type { Failure } from '../store.ts';

/** Why a ledger writes nothing more, if it has stopped: the stored ledger is not the one that was opened. */
export class LedgerStop {
  #problem: Problem | undefined;
  #isRepairable = false;
  #health: StoreHealth = WRITABLE;

  get problem(): Problem | undefined {
    return this.#problem;
  }

  get health(): StoreHealth {
    return this.#health;
  }

  /** The store's content is why, so its owner may repair it. */
  get isRepairable(): boolean {
    return this.#problem !== undefined && this.#isRepairable;
  }

  /** The first reason counts. */
  begin(problem: Problem, at: Date, isRepairable: boolean): Failure {
    if (this.#problem === undefined) this.#isRepairable = isRepairable;
    this.#problem ??= problem;
    this.#health = healthAfter(this.#health, this.#problem, at.toISOString());
    return { ok: false, problem: this.#problem };
  }

  /**
   * Calls `verify`, which finds the same fault again or nothing, before anything is recorded. The ledger goes on after
   * nothing was found.
   */
  async lookAgain(verify: () => Promise<Problem | undefined>, now: () => Date): Promise<void> {
    this.#problem = undefined;
    const problem = await verify();
    if (problem === undefined) this.#health = WRITABLE;
    else if (this.problem === undefined) this.begin(problem, now(), true);
  }
}
