import { type Fields, textOf } from '../../protocol/shape/read-unknown.ts';
import { printable } from '../text.ts';
import { type RunProgress, WorkflowStory } from './story.ts';

/** A task that a followed workflow waits for. */
export interface AwaitedTask {
  readonly task_id: string;
  readonly status: string;
}

type Outcome = 'moving' | 'done' | 'failed' | 'waiting';

/** Describes the entries of several workflows, each line with its task, and whether any of them still progresses. */
export class WorkflowsStory {
  readonly #stories: ReadonlyMap<string, WorkflowStory>;
  /** The open dependencies of each workflow that has not started. */
  readonly #awaited = new Map<string, Set<string>>();
  /** Dependencies outside the followed workflows that continue only if a person acts. */
  readonly #stuck = new Set<string>();

  constructor(workflows: readonly { readonly id: string; readonly waitsFor: readonly AwaitedTask[] }[]) {
    this.#stories = new Map(workflows.map(({ id }) => [id, new WorkflowStory(id)]));
    for (const { id, waitsFor } of workflows) {
      this.#awaited.set(id, new Set(waitsFor.map(({ task_id }) => task_id)));
      for (const { task_id, status } of waitsFor)
        if (status === 'blocked' || status === 'cancelled') this.#stuck.add(task_id);
    }
  }

  /** Which workflows wait for which tasks at the start. */
  get queued(): readonly string[] {
    return [...this.#awaited].flatMap(([id, awaited]) =>
      awaited.size === 0 ? [] : [`${label(id)}queued behind ${[...awaited].map(printable).join(', ')}`],
    );
  }

  /** Undefined for entries of other tasks, and for those that people do not need. */
  describe(type: string, data: Fields): string | undefined {
    this.#follow(type, data);
    for (const [id, story] of this.#stories) {
      const line = story.describe(type, data);
      if (line !== undefined) return `${label(id)}${line}`;
    }
    return undefined;
  }

  /** Over when every workflow is done or cancelled; waiting when none progresses until a person acts. */
  get progress(): RunProgress | { readonly kind: 'stuck' } {
    const known = new Map<string, Outcome>();
    const outcomes = new Set([...this.#stories.keys()].map((id) => this.#outcomeOf(id, known)));
    if (outcomes.has('moving')) return { kind: 'running' };
    const [asked] = this.decisionIds;
    if (asked !== undefined) return { kind: 'waiting', decisionId: asked };
    if (outcomes.has('waiting')) return { kind: 'stuck' };
    return { kind: 'over', outcome: outcomes.has('failed') ? 'failed' : 'done' };
  }

  get decisionIds(): readonly string[] {
    const all = [...this.#stories.values()].map(({ progress }) => progress);
    return all.flatMap((progress) => (progress.kind === 'waiting' ? [progress.decisionId] : []));
  }

  get hasFailed(): boolean {
    return [...this.#stories.values()].some(({ progress }) => progress.kind === 'over' && progress.outcome !== 'done');
  }

  #follow(type: string, data: Fields): void {
    if (type !== 'PhaseMoved') return;
    const id = textOf(data['task_id']);
    if (data['to'] === 'COMPLETED') for (const awaited of this.#awaited.values()) awaited.delete(id);
    if (data['to'] === 'BLOCKED') this.#stuck.add(id);
    else this.#stuck.delete(id);
  }

  /** Judges each task once, because many may wait for the same one. Dependencies have no cycle. */
  #outcomeOf(id: string, known: Map<string, Outcome>): Outcome {
    const outcome = known.get(id) ?? this.#judge(id, known);
    known.set(id, outcome);
    return outcome;
  }

  #judge(id: string, known: Map<string, Outcome>): Outcome {
    const story = this.#stories.get(id);
    // A task outside the followed workflows may progress by itself, unless it is blocked or cancelled.
    if (story === undefined) return this.#stuck.has(id) ? 'waiting' : 'moving';
    const { progress } = story;
    if (progress.kind === 'over') return progress.outcome === 'done' ? 'done' : 'failed';
    if (progress.kind === 'waiting') return 'waiting';
    const awaited = [...(this.#awaited.get(id) ?? [])];
    const isMoving = awaited.length === 0 || awaited.some((each) => this.#outcomeOf(each, known) === 'moving');
    return isMoving ? 'moving' : 'waiting';
  }
}

function label(id: string): string {
  return `${printable(id)}: `;
}
