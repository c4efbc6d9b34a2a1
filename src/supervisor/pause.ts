import { END_AT_QUESTION, Holds } from './holds.ts';
import type { StopGuard } from './stop-guard.ts';

/** What a budget that is used up does to an agent: what it has begun waits in its hand at the next step, and nothing is lost. */
export class Pause {
  readonly #guard: Pick<StopGuard, 'isOwned' | 'isHeld' | 'mayLeave'>;
  readonly #holds: Holds;
  /** A budget is used up; it stays so where the run was ended because of it. */
  #isPaused = false;
  /** It was told something, and has not ended its turn since. */
  #isInTurn = false;

  /** `holdMs`: how long the client waits for the answer of its hook, less what it takes to end its turn. */
  constructor(guard: Pick<StopGuard, 'isOwned' | 'isHeld' | 'mayLeave'>, holdMs?: number) {
    this.#guard = guard;
    this.#holds = new Holds(holdMs);
  }

  turnBegins(): void {
    this.#isInTurn = true;
  }

  /** Whoever sets it going from here on has to say so: it does not go on by itself. */
  turnEnds(): void {
    this.#isInTurn = false;
  }

  /** How the agent stands has changed. */
  look(): void {
    if (!this.#guard.isOwned) return this.drop();
    this.#isPaused = this.#guard.isHeld;
    if (!this.#isPaused) this.#holds.release();
  }

  /** Nobody waits for the agent any more. */
  drop(): void {
    this.#holds.drop();
  }

  /** Whether it may use its tool, as soon as that is known. If not, its turn is ended. */
  async atTool(): Promise<boolean> {
    // One whose run was ended while it was paused has yet to hear that nobody waits for it.
    const mayGoOn = this.#guard.isHeld ? await this.#holds.hold() : !this.#isPaused;
    if (!mayGoOn) this.turnEnds();
    return mayGoOn;
  }

  /** The same for a question: undefined where it may be asked. */
  async atQuestion(): Promise<object | undefined> {
    if (!this.#guard.isHeld || (await this.#holds.hold())) return undefined;
    this.turnEnds();
    return END_AT_QUESTION;
  }

  /** It needs no word: its tool call was held, or its turn is still under way. One that was allowed to stop is not. */
  goesOn(isLeaving: boolean): boolean {
    return this.#holds.release() || (this.#isInTurn && !this.#guard.mayLeave && !isLeaving);
  }
}
