import { dirname } from 'node:path';
import { listFolderIfPresent } from '../../api/files.ts';
import { fencePath, writeFence, type LiveClaim } from '../../git/fence/fence.ts';
import type { RecordedEvent } from '../../state/event.ts';
import type { State } from '../../state/state.ts';
import type { LeaseTimes } from '../../state/tasks/lease.ts';

/** Milliseconds for which the database has acknowledged a claim of this host; undefined for claims of other hosts. */
export type SharedLease = (taskId: string, epoch: number) => number | undefined;

interface FenceOptions {
  readonly stateDir: string;
  readonly id: string;
  readonly leaseTimes: LeaseTimes;
}

/**
 * Writes fence files, which tell git hooks the live claim. They are written before a claim is answered, which excludes
 * the old holder.
 */
export class Fences {
  readonly #stateDir: string;
  readonly #project: string;
  readonly #closesAtMs: number;
  readonly #fenced: Set<string>;
  /** The fenced tasks with a live claim: closed tasks keep their fence, and must not be looked at again and again. */
  readonly #live = new Set<string>();
  /** Tasks whose claim another host may have by now, so no session may move their refs. */
  readonly #closed = new Set<string>();

  constructor({ stateDir, id, leaseTimes }: FenceOptions) {
    this.#stateDir = stateDir;
    this.#project = id;
    this.#closesAtMs = closesAtMs(leaseTimes);
    const folder = dirname(fencePath(stateDir, id, 'x'));
    this.#fenced = new Set(listFolderIfPresent(folder).filter((name) => !name.startsWith('.')));
  }

  add(taskId: string, claim: LiveClaim | null): void {
    this.#fenced.add(taskId);
    this.#follow(taskId, claim);
  }

  /**
   * Closes fences in time, so that a holder that cannot renew its claim stops moving refs before another host may have
   * its task.
   */
  closeOverdue(state: State, leaseOf: SharedLease): void {
    for (const id of [...this.#live, ...[...this.#closed].filter((each) => !this.#live.has(each))]) {
      const { claim = null } = state.tasks.get(id) ?? {};
      const leaseMs = claim === null ? undefined : leaseOf(id, claim.epoch);
      if (leaseMs !== undefined && leaseMs <= this.#closesAtMs) this.#close(id);
      else if (this.#closed.delete(id)) this.#write(id, claim);
    }
  }

  /** Whether the store failed to acknowledge the claim on the task in time, so that another host may have it. */
  isClosed(taskId: string): boolean {
    return this.#closed.has(taskId);
  }

  writeAll(state: State): void {
    for (const taskId of this.#fenced) this.#follow(taskId, state.tasks.get(taskId)?.claim ?? null);
  }

  follow(recorded: readonly RecordedEvent[]): void {
    if (this.#fenced.size === 0) return;
    for (const { type, data } of recorded) {
      // The store has just acknowledged a new claim.
      if (type === 'TaskClaimed') this.#closed.delete(data.task_id);
      if (type === 'TaskClaimed') this.#follow(data.task_id, { epoch: data.epoch, sessionId: data.session_id });
      else if (type.startsWith('Claim') && 'task_id' in data) this.#follow(data.task_id ?? '', null);
    }
  }

  #follow(taskId: string, claim: LiveClaim | null): void {
    if (claim === null) this.#live.delete(taskId);
    else if (this.#fenced.has(taskId)) this.#live.add(taskId);
    this.#write(taskId, claim);
  }

  #close(taskId: string): void {
    if (this.#closed.has(taskId)) return;
    this.#closed.add(taskId);
    this.#write(taskId, null);
  }

  #write(taskId: string, claim: LiveClaim | null): void {
    const open = this.#closed.has(taskId) ? null : claim;
    if (this.#fenced.has(taskId)) writeFence(this.#stateDir, this.#project, taskId, open);
  }
}

/**
 * How much of a lease is left when its fence closes, which is after two failed renewals. Short leases close later, so
 * that a renewal is always in time.
 */
export function closesAtMs({ expiryMs, renewalMs }: Pick<LeaseTimes, 'expiryMs' | 'renewalMs'>): number {
  return Math.min(2 * renewalMs, (expiryMs - renewalMs) / 2);
}
