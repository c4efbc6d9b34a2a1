import { DENY_QUESTION, HeldToolCalls } from './holds.ts';
import type { StopGuard } from './stop-guard.ts';

/** What a budget that is used up does to an agent: what it has begun waits in its hand at the next step, and nothing is lost. */
export class BudgetHold {
  readonly #guard: Pick<StopGuard, 'isOwned' | 'isHeld' | 'mayLeave'>;
  readonly #holds: HeldToolCalls;
  /** A budget is used up; it stays so where the run was ended because of it. */
  #isPaused = false;
  /** It was told something, and has not ended its turn since. */
  #isInTurn = false;

  /** `holdMs`: how long the client waits for the answer of its hook, less what it takes to end its turn. */
  constructor(guard: Pick<StopGuard, 'isOwned' | 'isHeld' | 'mayLeave'>, holdMs?: number) {
    this.#guard = guard;
    this.#holds = new HeldToolCalls(holdMs);
  }

  turnBegins(): void {
    this.#isInTurn = true;
  }

  /** Whoever sets it going from here on has to say so: it does not go on by itself. */
  turnEnds(): void {
    this.#isInTurn = false;
  }

  /** How the agent stands has changed. */
  update(): void {
    if (!this.#guard.isOwned) return this.cancel();
    this.#isPaused = this.#guard.isHeld;
    if (!this.#isPaused) this.#holds.release();
  }

  /** Nobody waits for the agent any more. */
  cancel(): void {
    this.#holds.cancel();
  }

  /** Whether it may use its tool, as soon as that is known. If not, its turn is ended. */
  async holdTool(): Promise<boolean> {
    // One whose run was ended while it was paused has yet to hear that nobody waits for it.
    const mayGoOn = this.#guard.isHeld ? await this.#holds.hold() : !this.#isPaused;
    if (!mayGoOn) this.turnEnds();
    return mayGoOn;
  }

  /** The same for a question: undefined where it may be asked. */
  async holdQuestion(): Promise<object | undefined> {
    if (!this.#guard.isHeld || (await this.#holds.hold())) return undefined;
    this.turnEnds();
    return DENY_QUESTION;
  }

  /** It needs no word: its tool call was held, or its turn is still under way. One that was allowed to stop is not. */
  continuesWithoutMessage(isLeaving: boolean): boolean {
    return this.#holds.release() || (this.#isInTurn && !this.#guard.mayLeave && !isLeaving);
  }
}
