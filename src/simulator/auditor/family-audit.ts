import { type AuditedEntry, numberOf, partOf, textOf, wordOf } from './entry.ts';

export interface TaskLimits {
  readonly number: number;
  readonly depth: number;
}

/** The tasks that sessions make below a task of a person: at most so many without a question, and not too deep. */
export class FamilyAudit {
  limits: TaskLimits = { number: Infinity, depth: Infinity };
  readonly #parents = new Map<string, string>();
  readonly #priorities = new Map<string, number>();
  readonly #unasked = new Map<string, number>();
  readonly #report: (invariant: 'family', text: string) => void;

  constructor(report: (invariant: 'family', text: string) => void) {
    this.#report = report;
  }

  created(entry: AuditedEntry): void {
    const [id, parent] = [textOf(entry, 'task_id'), wordOf(partOf(entry, 'made_by'), 'task_id')];
    const priority = numberOf(entry, 'priority');
    this.#priorities.set(id, priority);
    if (parent === '') return;
    if (priority > (this.#priorities.get(parent) ?? 0))
      this.#report('family', `${id} is more urgent than ${parent}, whose session made it`);
    this.#parents.set(id, parent);
    if (textOf(entry, 'accepted_by') !== '') return;
    const { root, depth } = this.#placeOf(id);
    const unasked = (this.#unasked.get(root) ?? 0) + 1;
    this.#unasked.set(root, unasked);
    if (unasked > this.limits.number || depth > this.limits.depth)
      this.#report('family', `${id} is task ${unasked} of sessions below ${root}, ${depth} deep, and nobody was asked`);
  }

  /** The task of a person, which pays for the tasks below it. */
  rootOf(id: string): string {
    return this.#placeOf(id).root;
  }

  #placeOf(id: string): { readonly root: string; readonly depth: number } {
    let [root, depth] = [id, 0];
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) {
      root = parent;
      depth += 1;
    }
    return { root, depth };
  }
}
