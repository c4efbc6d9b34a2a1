import { PROTOCOL_LIMITS } from '../limits.ts';

/** What is wrong, before anybody knows where it is in the text. `at` is given where the path alone does not tell. */
export interface ElementFinding {
  readonly code: string;
  readonly message: string;
  readonly path: string;
  readonly hint: string;
  readonly at?: number;
}

/** Collects findings up to the limit, and stops work that would cost more than any handoff may. */
export class ElementFindings {
  readonly list: ElementFinding[] = [];
  #bytesLeft = PROTOCOL_LIMITS.handoffBytes;

  add(finding: ElementFinding): void {
    if (!this.isFull) this.list.push(finding);
  }

  /** Whether it is any use to go on looking. */
  get isFull(): boolean {
    return this.list.length >= PROTOCOL_LIMITS.problems;
  }

  /**
   * Values from outside can be far larger than their memory: an array of four billion holes, or ten lists that each hold
   * the next one ten times. So each part is paid for before it is looked at. Returns false when nothing is left.
   */
  spend(bytes: number): boolean {
    const hadSome = this.#bytesLeft >= 0;
    this.#bytesLeft -= bytes;
    if (hadSome && this.#bytesLeft < 0) this.add(handoffTooLarge(`more than ${PROTOCOL_LIMITS.handoffBytes}`));
    return this.#bytesLeft >= 0;
  }
}

export function handoffTooLarge(bytes: string): ElementFinding {
  return {
    code: 'handoff/too-large',
    message: `Handoff too large: ${bytes} bytes as XML, ${PROTOCOL_LIMITS.handoffBytes} bytes maximum`,
    path: '',
    hint: 'Keep long text in a file, and name the file.',
  };
}
