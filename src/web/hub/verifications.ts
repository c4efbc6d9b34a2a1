import type { Answer } from '../../api/answer.ts';
import type { HubCall, Verified } from './messages.ts';

const NOTHING: Verified = { to: 0, isRunning: false };

/** Verifies the chain of a project in this browser, part by part, and remembers how far it got. */
export class Verifications {
  readonly #call: (call: HubCall) => Promise<Answer>;
  readonly #onChange: () => void;
  readonly #known = new Map<string, Verified>();

  constructor(call: (call: HubCall) => Promise<Answer>, onChange: () => void) {
    this.#call = call;
    this.#onChange = onChange;
  }

  of(project: string): Verified {
    return this.#known.get(project) ?? NOTHING;
  }

  start(project: string): void {
    if (this.of(project).isRunning) return;
    void this.#run(project);
  }

  async #run(project: string): Promise<void> {
    this.#known.set(project, { ...this.of(project), isRunning: true });
    this.#onChange();
    await this.#call({ project, operation: 'ledger_head', input: {} });
    this.#known.set(project, { ...this.of(project), isRunning: false });
    this.#onChange();
  }
}
