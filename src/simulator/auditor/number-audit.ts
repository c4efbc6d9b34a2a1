import type { AuditedEntry } from './entry.ts';

type Report = (invariant: 'numbers', text: string) => void;

/** The number of each entry within its tasks, counted again. */
export class NumberAudit {
  readonly #last = new Map<string, number>();
  readonly #report: Report;
  #isNumbered = false;

  constructor(report: Report) {
    this.#report = report;
  }

  read({ seq, type, data, tasks }: AuditedEntry): void {
    const name = `entry ${seq} ${type}`;
    const { task_id: named } = data;
    this.#isNumbered ||= tasks !== undefined;
    if (this.#isNumbered && typeof named === 'string' && tasks?.[named] === undefined)
      this.#report('numbers', `${name} is no entry of ${named}`);
    for (const [id, number] of Object.entries(tasks ?? {})) {
      const expected = (this.#last.get(id) ?? 0) + 1;
      if (number !== expected) this.#report('numbers', `${name} is entry ${number} of ${id}, not ${expected}`);
      this.#last.set(id, number);
    }
  }
}
