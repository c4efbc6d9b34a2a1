import { type ReadPart, takeTurn } from '../model/ledger/ledger-parts.ts';
import type { PastStates } from '../model/ledger/past-states.ts';
import type { LateCode } from './late-code.ts';
import type { Job, JobReport, JobResults } from './messages.ts';

type Report = (report: JobReport) => void;

/** How often progress is reported; it is only for display. */
const REPORT_MS = 100;
const FORGET_MS = 300_000;

/** Jobs in the hub that tabs started. A job reports its progress, and stops when its tab no longer needs it. */
export class Jobs {
  readonly #readPartOf: (project: string) => ReadPart;
  readonly #late: Pick<LateCode, 'loaded'>;
  readonly #running = new Map<object, Map<number, AbortController>>();
  #forgetting: ReturnType<typeof setTimeout> | undefined;
  /** Past states of the project viewed last. They are dropped after a while, because they take memory. */
  #past: { readonly project: string; readonly states: PastStates } | undefined;

  constructor(readPartOf: (project: string) => ReadPart, late: Pick<LateCode, 'loaded'>) {
    this.#readPartOf = readPartOf;
    this.#late = late;
  }

  get isBusy(): boolean {
    return [...this.#running.values()].some(({ size }) => size > 0);
  }

  start(tab: object, id: number, job: Job, report: Report): void {
    const stop = new AbortController();
    const ofTab = this.#running.get(tab) ?? new Map<number, AbortController>();
    this.#running.set(tab, ofTab.set(id, stop));
    void this.#run(job, stop.signal, report).finally(() => ofTab.delete(id));
  }

  stop(tab: object, id: number): void {
    this.#running.get(tab)?.get(id)?.abort();
  }

  /** Stops the jobs of a closed tab. */
  stopAll(tab: object): void {
    for (const stop of this.#running.get(tab)?.values() ?? []) stop.abort();
    this.#running.delete(tab);
  }

  async #run(job: Job, signal: AbortSignal, report: Report): Promise<void> {
    let reportedAt = -Infinity;
    const onProgress = (done: number, of: number): void => {
      if (signal.aborted || performance.now() - reportedAt < REPORT_MS) return;
      reportedAt = performance.now();
      report({ isDone: false, done, of });
    };
    const result = await this.#work(job, { signal, onProgress });
    if (!signal.aborted) report({ isDone: true, result });
  }

  async #work(job: Job, options: WorkOptions): Promise<JobResults[Job['kind']]> {
    const { checkFile, describePast, webVerifier } = await this.#late.loaded;
    if (job.kind === 'check-file') return checkFile(job.file, { ...options, verifier: webVerifier, turn: takeTurn });
    return (await this.#statesOf(job.project)).look(job.seq, describePast, options);
  }

  async #statesOf(project: string): Promise<PastStates> {
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => void (this.#past = undefined), FORGET_MS);
    const { PastStates } = await this.#late.loaded;
    if (this.#past?.project === project) return this.#past.states;
    const states = new PastStates({ readPart: this.#readPartOf(project), turn: takeTurn });
    this.#past = { project, states };
    return states;
  }
}

interface WorkOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, of: number) => void;
}
