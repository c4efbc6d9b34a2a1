import { randomUUID } from 'node:crypto';
import { listFolderIfPresent, readFileIfPresent } from '../../api/files.ts';
import type { State } from '../../state/state.ts';
import type { CheckPlan } from '../../state/workflow/workflow-event.ts';
import { join } from 'node:path';
import type { EffectContext } from '../context.ts';
import { ownerFile } from '../processes/supervised.ts';
import { abandonCommits, checkCommit, type CheckResult } from './checks.ts';

export interface JudgeCheckRequest {
  readonly sessionId: string;
  readonly taskId: string;
  readonly head: string;
  readonly checks: readonly CheckPlan[];
  readonly waitMs: number;
}

/**
 * Runs the project's checks for sessions that judge, as the required checks of the same commit run. Nothing is
 * recorded: the results are for the session alone. Each session runs them once at a time.
 */
export class JudgeChecks {
  readonly #context: EffectContext;
  readonly #running = new Map<string, RunningChecks>();

  constructor(context: EffectContext) {
    this.#context = context;
  }

  /** Returns the checks that have ended in time, oldest first. Stops the others when the session or the call ends. */
  async run(request: JudgeCheckRequest, signal: AbortSignal): Promise<readonly CheckResult[] | 'busy'> {
    const { sessionId, taskId, waitMs } = request;
    if (this.#running.has(sessionId)) return 'busy';
    const ended = new AbortController();
    const until = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(waitMs)]);
    const work = this.#check(request, until);
    this.#running.set(sessionId, { taskId, ended, work });
    return work;
  }

  async #check(
    { sessionId, taskId, head: sha, checks }: JudgeCheckRequest,
    signal: AbortSignal,
  ): Promise<readonly CheckResult[]> {
    const id = `${PREFIX}${randomUUID()}`;
    const ends: CheckResult[] = [];
    const onEnd = async (end: CheckResult): Promise<void> => void ends.push(end);
    try {
      await checkCommit({ id: `${id}.0`, sha, taskId, checks }, this.#context, signal, onEnd);
      return ends;
    } finally {
      await abandonCommits(id, this.#context);
      this.#running.delete(sessionId);
    }
  }

  /** Stops the checks of sessions that have lost their claim. */
  reconcile({ tasks }: Pick<State, 'tasks'>): void {
    for (const [sessionId, { taskId, ended }] of this.#running)
      if (tasks.get(taskId)?.claim?.sessionId !== sessionId) ended.abort();
  }

  /** Stops what a killed daemon has left, because nobody waits for its results. */
  async recover(): Promise<void> {
    const { stateDir, projectId } = this.#context;
    const commands = join(stateDir, 'commands');
    const left = listFolderIfPresent(commands).filter(
      (name) => name.startsWith(PREFIX) && readFileIfPresent(ownerFile(join(commands, name))) === projectId,
    );
    const ids = new Set(left.map((name) => name.split('.', 1).join('')));
    await Promise.all([...ids].map(async (id) => abandonCommits(id, this.#context)));
  }

  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { ended } of running) ended.abort();
    await Promise.allSettled(running.map(({ work }) => work));
  }
}

interface RunningChecks {
  readonly taskId: string;
  readonly ended: AbortController;
  readonly work: Promise<unknown>;
}

const PREFIX = 'judge-';
