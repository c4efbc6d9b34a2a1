import type { ToolDenial } from '../../streams/client-stream.ts';
import { STREAMS } from '../../streams/reader.ts';
import type { Launch } from '../contract.ts';
import type { StopGuard } from './stop-guard.ts';

/** Holds the next tool call while a budget is exhausted; work in progress is kept. */
export class BudgetHold {
  readonly #guard: Pick<StopGuard, 'isOwned' | 'isHeld' | 'mayLeave'>;
  readonly #holds: HeldToolCalls;
  /** A budget is exhausted. Stays set if the run was ended for that reason. */
  #isPaused = false;
  /** A message was delivered, and the turn has not ended since. */
  #isInTurn = false;

  /** `holdMs`: how long the client waits for its hook, less the time to end its turn. */
  constructor(guard: Pick<StopGuard, 'isOwned' | 'isHeld' | 'mayLeave'>, holdMs?: number) {
    this.#guard = guard;
    this.#holds = new HeldToolCalls(holdMs);
  }

  turnBegins(): void {
    this.#isInTurn = true;
  }

  /** From now on the agent continues only with a message. */
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
    // If the run was ended during the pause, the agent learns it here.
    const mayGoOn = this.#guard.isHeld ? await this.#holds.hold() : !this.#isPaused;
    if (!mayGoOn) this.turnEnds();
    return mayGoOn;
  }

  /** The same for a tool that cannot wait. */
  checkRunningTool(): boolean {
    const mayGoOn = !this.#guard.isHeld && !this.#isPaused;
    if (!mayGoOn) this.turnEnds();
    return mayGoOn;
  }

  /** The same for a permission question; undefined if it may be asked. */
  async holdQuestion(): Promise<object | undefined> {
    if (!this.#guard.isHeld || (await this.#holds.hold())) return undefined;
    this.turnEnds();
    return DENY_QUESTION;
  }

  /** Whether the agent continues without a message: its tool call was held, or its turn is still running. */
  continuesWithoutMessage(isLeaving: boolean): boolean {
    return this.#holds.release() || (this.#isInTurn && !this.#guard.mayLeave && !isLeaving);
  }
}

/** A client whose hook times out runs the tool; so the turn is ended before that. A message resumes it later. */
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

  /** Returns whether a call was waiting; then the agent continues by itself. */
  release(): boolean {
    return this.#answer(true);
  }

  /** The agent has no owner any more: held tools are not run. */
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

/** Refuses a tool and ends the turn. A program that prints plain text is refused in the format of Claude Code. */
export function denyTool(output: Launch['output']): ToolDenial {
  return STREAMS[output === 'text' ? 'stream-json' : output].denyTool(BUDGET_REASON);
}
