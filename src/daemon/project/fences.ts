import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fencePath, writeFence, type LiveClaim } from '../../git/fence/fence.ts';
import type { RecordedEvent } from '../../state/event.ts';
import type { State } from '../../state/state.ts';

/**
 * Writes the fence files, which tell git hooks the claim that may write. Only tasks with a worktree of Baton have one. The file is written
 * before the claim is answered, so that the old holder is locked out first.
 */
export class Fences {
  readonly #stateDir: string;
  readonly #project: string;
  readonly #fenced: Set<string>;

  constructor(stateDir: string, project: string) {
    this.#stateDir = stateDir;
    this.#project = project;
    this.#fenced = new Set(listFences(stateDir, project));
  }

  add(taskId: string, claim: LiveClaim | null): void {
    this.#fenced.add(taskId);
    writeFence(this.#stateDir, this.#project, taskId, claim);
  }

  writeAll(state: State): void {
    for (const taskId of this.#fenced) {
      const claim = state.tasks.get(taskId)?.claim ?? null;
      writeFence(this.#stateDir, this.#project, taskId, claim);
    }
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

function listFences(stateDir: string, project: string): string[] {
  try {
    return readdirSync(dirname(fencePath(stateDir, project, 'x'))).filter((name) => !name.startsWith('.'));
  } catch {
    return [];
  }
}
