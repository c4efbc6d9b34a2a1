/** Wakes one waiter. A ring without a waiter is kept for the next wait. */
export class WakeSignal {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  async wait(): Promise<void> {
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#isRung = false;
  }
}
