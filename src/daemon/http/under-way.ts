/** The requests that have no answer yet, of all doors together. */
export class ActiveCalls {
  readonly #controllers = new Set<AbortController>();
  #onLeave: (() => void) | undefined;

  get size(): number {
    return this.#controllers.size;
  }

  enter(): AbortController {
    const controller = new AbortController();
    this.#controllers.add(controller);
    return controller;
  }

  leave(controller: AbortController): void {
    this.#controllers.delete(controller);
    this.#onLeave?.();
  }

  /** Those who wait are woken. */
  abort(): void {
    for (const controller of this.#controllers) controller.abort();
  }

  /** When everybody has left, or the time is over. */
  async whenEmpty(timeoutMs: number): Promise<void> {
    if (this.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onLeave = () => {
        if (this.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
