import { dirname } from 'node:path';
import { listFolderIfPresent } from '../../api/files.ts';
import { fencePath, writeFence, type LiveClaim } from '../../git/fence/fence.ts';
import type { RecordedEvent } from '../../state/event.ts';
import type { State } from '../../state/state.ts';

/** Fence files tell git hooks the claim that may write. They are written before a claim is answered, which locks out the old holder. */
export class Fences {
  readonly #stateDir: string;
  readonly #project: string;
  readonly #fenced: Set<string>;

  constructor(stateDir: string, project: string) {
    this.#stateDir = stateDir;
    this.#project = project;
    const folder = dirname(fencePath(stateDir, project, 'x'));
    this.#fenced = new Set(listFolderIfPresent(folder).filter((name) => !name.startsWith('.')));
  }

  add(taskId: string, claim: LiveClaim | null): void {
    this.#fenced.add(taskId);
    this.#write(taskId, claim);
  }

  writeAll(state: State): void {
    for (const taskId of this.#fenced) this.#write(taskId, state.tasks.get(taskId)?.claim ?? null);
  }

  follow(recorded: readonly RecordedEvent[]): void {
    if (this.#fenced.size === 0) return;
    for (const { type, data } of recorded) {
      if (type === 'TaskClaimed') this.#write(data.task_id, { epoch: data.epoch, sessionId: data.session_id });
      else if (type.startsWith('Claim') && 'task_id' in data) this.#write(data.task_id ?? '', null);
    }
  }

  #write(taskId: string, claim: LiveClaim | null): void {
    if (this.#fenced.has(taskId)) writeFence(this.#stateDir, this.#project, taskId, claim);
  }
}
