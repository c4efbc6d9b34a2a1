import type { Launch } from '../contract.ts';
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

/**
 * Tool calls that wait until their agent may go on. A client does not wait for a hook for ever, and one that gives up runs the tool: before
 * that its turn is ended, which costs nothing, and a message goes on with it later.
 */
export class HeldToolCalls {
  readonly #waiting = new Set<(mayGoOn: boolean) => void>();
  readonly #longestMs: number;

  constructor(longestMs: number = MAX_HOLD_MS) {
    this.#longestMs = longestMs;
  }

  /** Whether it may go on with what it has begun. */
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

  /** True where somebody had waited: it goes on by itself. */
  release(): boolean {
    return this.#answer(true);
  }

  /** Nobody waits for the agent any more: what it has begun is not done. */
  cancel(): void {
    this.#answer(false);
  }

  #answer(mayGoOn: boolean): boolean {
    const isWaiting = this.#waiting.size > 0;
    for (const answer of this.#waiting) answer(mayGoOn);
    return isWaiting;
  }
}

/** HTTP clients give up after five minutes without an answer. */
const MAX_HOLD_MS = 240_000;

export const BUDGET_REASON = 'A budget is used up. A person has been asked.';

export const DENY_QUESTION = {
  continue: false,
  stopReason: BUDGET_REASON,
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message: BUDGET_REASON } },
} as const;

export interface ToolDenial {
  readonly answer: object;
  /** The client cannot be made to end its turn by an answer: its process is ended before it is answered. */
  readonly endsProcess: boolean;
}

/** Refuses a tool and ends the turn, in the words of each client. */
export function denyTool(output: Launch['output']): ToolDenial {
  if (output === 'gemini')
    return { answer: { continue: false, stopReason: BUDGET_REASON, ...BLOCK }, endsProcess: false };
  // Codex takes an answer with `continue` for a broken hook, and runs the tool; without it, the model is asked again.
  if (output === 'codex') return { answer: { hookSpecificOutput: DENY }, endsProcess: true };
  // `continue` alone would still let Claude Code run the tool.
  return { answer: { continue: false, stopReason: BUDGET_REASON, hookSpecificOutput: DENY }, endsProcess: false };
}

const BLOCK = { decision: 'deny', reason: BUDGET_REASON } as const;
const DENY = {
  hookEventName: 'PreToolUse',
  permissionDecision: 'deny',
  permissionDecisionReason: BUDGET_REASON,
} as const;
