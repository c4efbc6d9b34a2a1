import type { ToolDenial } from '../../streams/client-stream.ts';
import { STREAMS } from '../../streams/reader.ts';
import type { Launch } from '../contract.ts';
import type { StopGuard } from './stop-guard.ts';

/** Holds the next tool call while a budget is exhausted. The agent keeps its work in progress. */
export class BudgetHold {
  readonly #guard: Pick<StopGuard, 'isOwned' | 'isHeld' | 'mayLeave'>;
  readonly #holds: HeldToolCalls;
  /** Whether a budget is exhausted. Stays set if the run was ended for that reason. */
  #isPaused = false;
  /** Whether a message was delivered and the turn has not ended since. */
  #isInTurn = false;

  /** `holdMs`: the client's timeout for its hook, less the time to end the turn. */
  constructor(guard: Pick<StopGuard, 'isOwned' | 'isHeld' | 'mayLeave'>, holdMs?: number) {
    this.#guard = guard;
    this.#holds = new HeldToolCalls(holdMs);
  }

  turnBegins(): void {
    this.#isInTurn = true;
  }

  /** Ends the turn; the agent continues only with a message. */
  turnEnds(): void {
    this.#isInTurn = false;
  }

  update(): void {
    if (!this.#guard.isOwned) return this.cancel();
    this.#isPaused = this.#guard.isHeld;
    if (!this.#isPaused) this.#holds.release();
  }

  cancel(): void {
    this.#holds.cancel();
  }

  /** Resolves to whether the agent may use its tool. If not, its turn is ended. */
  async holdTool(): Promise<boolean> {
    // If the run was ended during the pause, the agent is refused here.
    const mayGoOn = this.#guard.isHeld ? await this.#holds.hold() : !this.#isPaused;
    if (!mayGoOn) this.turnEnds();
    return mayGoOn;
  }

  /**
   * Checks a tool that is running already and cannot wait. Returns whether it may continue; if not, the turn is ended.
   */
  checkRunningTool(): boolean {
    const mayGoOn = !this.#guard.isHeld && !this.#isPaused;
    if (!mayGoOn) this.turnEnds();
    return mayGoOn;
  }

  /** Holds a permission question. Resolves to a refusal, or to undefined if the question may be asked. */
  async holdQuestion(): Promise<object | undefined> {
    if (!this.#guard.isHeld || (await this.#holds.hold())) return undefined;
    this.turnEnds();
    return DENY_QUESTION;
  }

  /**
   * Reports whether the agent continues without a message, because its tool call was held or its turn is still running.
   */
  continuesWithoutMessage(isLeaving: boolean): boolean {
    return this.#holds.release() || (this.#isInTurn && !this.#guard.mayLeave && !isLeaving);
  }
}

/**
 * Tool calls that wait in their hook. A client whose hook times out runs the tool, so the turn is ended before that. A
 * message resumes the agent later.
 */
export class HeldToolCalls {
  readonly #waiting = new Set<(mayGoOn: boolean) => void>();
  readonly #longestMs: number;

  constructor(longestMs: number = MAX_HOLD_MS) {
    this.#longestMs = longestMs;
  }

  async hold(): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = (mayGoOn: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(answer);
        resolve(mayGoOn);
      };
      const timer = setTimeout(() => answer(false), this.#longestMs).unref();
      this.#waiting.add(answer);
    });
  }

  /** Releases the held calls. Returns whether there was one; the agent then continues by itself. */
  release(): boolean {
    return this.#answer(true);
  }

  /** Refuses the held calls, because the agent no longer has an owner. */
  cancel(): void {
    this.#answer(false);
  }

  #answer(mayGoOn: boolean): boolean {
    const isWaiting = this.#waiting.size > 0;
    for (const answer of this.#waiting) answer(mayGoOn);
    return isWaiting;
  }
}

/** HTTP clients give up after five minutes without a response. */
const MAX_HOLD_MS = 240_000;
const BUDGET_REASON = 'A budget is exhausted. A person has been asked.';

const DENY_QUESTION = {
  continue: false,
  stopReason: BUDGET_REASON,
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message: BUDGET_REASON } },
} as const;

/** The refusal of a tool, which ends the turn. A program that prints plain text is refused in Claude Code's format. */
export function denyTool(output: Launch['output']): ToolDenial {
  return STREAMS[output === 'text' ? 'stream-json' : output].denyTool(BUDGET_REASON);
}
