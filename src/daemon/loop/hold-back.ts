import type { Problem } from '../../protocol/shape/problem.ts';
import {
  type CommandLoopOptions,
  type CommandRequest,
  EARLIER_MESSAGES_UNRECORDED,
  type KeptMessages,
} from './request.ts';
import type { Batch, PendingRequest } from './speculative-state.ts';

/**
 * Finds the requests of a batch that must wait, with what each waits for: in a fleet, work is pushed before the end of
 * its claim is recorded. Reactions count too. A request waits once; then it is recorded, whatever the result.
 */
export function findHeld(
  { decided, steps }: Batch,
  holdBack: CommandLoopOptions['holdBack'],
): ReadonlyMap<PendingRequest, Promise<Problem | undefined>> {
  const held = new Map<PendingRequest, Promise<Problem | undefined>>();
  if (holdBack === undefined) return held;
  for (const { waiting, from, to } of decided) {
    if (from === to || waiting.hasWaited === true) continue;
    const until = holdBack(steps.slice(from, to).map(({ recorded }) => recorded));
    if (until === undefined) continue;
    waiting.hasWaited = true;
    held.set(
      waiting,
      until.then(() => undefined),
    );
  }
  return held;
}

/** Requests that are decided again after some other work has ended. */
export class SetAside {
  readonly #waiting = new Set<PendingRequest>();
  readonly #decideAgain: (waiting: PendingRequest) => void;
  readonly #onInternalError: (error: unknown) => void;

  constructor(decideAgain: (waiting: PendingRequest) => void, onInternalError: (error: unknown) => void) {
    this.#decideAgain = decideAgain;
    this.#onInternalError = onInternalError;
  }

  has(waiting: PendingRequest): boolean {
    return this.#waiting.has(waiting);
  }

  /** Refuses the request if `until` reports a problem. */
  async wait(waiting: PendingRequest, until: Promise<Problem | undefined>): Promise<void> {
    this.#waiting.add(waiting);
    const problem = await until.catch((error: unknown) => {
      this.#onInternalError(error);
      return EARLIER_MESSAGES_UNRECORDED;
    });
    this.#waiting.delete(waiting);
    if (problem === undefined) this.#decideAgain(waiting);
    else waiting.answer({ ok: false, problem });
  }
}

/** Whether a judgement is recorded without waiting for the messages that sessions have kept. */
export function goesBeforeKept({ isKept, overtakesKept }: CommandRequest<unknown>): boolean {
  return isKept === true || overtakesKept === true;
}

export async function drainMessages(messages: KeptMessages): Promise<Problem | undefined> {
  return (await messages.drain()) ? undefined : EARLIER_MESSAGES_UNRECORDED;
}
