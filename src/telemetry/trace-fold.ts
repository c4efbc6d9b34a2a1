import type { RecordedEvent } from '../state/event.ts';
import { OpenTraces } from './open-traces.ts';
import type { FinishedTrace } from './spans.ts';
import { RunSpans } from './run-spans.ts';
import { TaskSpans } from './task-spans.ts';

/** The traces of one project: one per task, and one per run outside of tasks. */
export class TraceFold {
  readonly #traces: OpenTraces;
  readonly #tasks: TaskSpans;
  readonly #runs: RunSpans;

  constructor(project: string) {
    this.#traces = new OpenTraces(project);
    this.#tasks = new TaskSpans(this.#traces);
    this.#runs = new RunSpans(this.#traces);
  }

  get openTraces(): number {
    return this.#traces.size;
  }

  /** Folds an entry. Returns the traces that ended with it, each once. */
  add(recorded: RecordedEvent): readonly FinishedTrace[] {
    this.#tasks.add(recorded);
    this.#runs.add(recorded);
    return this.#traces.takeFinished(recorded.at);
  }
}
