/** Notices silence. Each silence is told once; whatever is said or heard begins the next one. */
export class IdleTimer {
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(idleMs: number | null, onIdle: () => void) {
    if (idleMs !== null) this.#timer = setTimeout(onIdle, idleMs);
  }

  restart(): void {
    // Also after it has fired: a timer that is refreshed runs once more.
    this.#timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
