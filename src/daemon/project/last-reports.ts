import type { Caller } from '../../state/caller.ts';

/**
 * When the daemon last received a report about each agent, on the monotonic clock. Only calls of its supervisor count: a call of the agent
 * itself does not prove that its silence, its budgets and its time are measured. Nothing of it is durable. After a restart every agent
 * counts from the start of the daemon, and supervisors report within seconds.
 */
export class LastReports {
  readonly #startedMs: number;
  readonly #heardMs = new Map<string, number>();

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  /** Any call. */
  note(caller: Caller, atMs: number): void {
    if (caller.kind === 'supervisor') this.noteAgent(caller.agentId, atMs);
  }

  noteAgent(agentId: string, atMs: number): void {
    this.#heardMs.set(agentId, Math.max(atMs, this.#heardMs.get(agentId) ?? -Infinity));
  }

  /** Returns undefined if this daemon has received no report about the agent. */
  lastReportMs(agentId: string): number | undefined {
    return this.#heardMs.get(agentId);
  }

  /** How long the agent has not been heard of; without any report, since this daemon started. */
  silentMs(agentId: string, nowMs: number): number {
    return Math.max(0, nowMs - (this.#heardMs.get(agentId) ?? this.#startedMs));
  }

  /** Forgets the agents whose processes have ended. */
  keepOnly(isRunning: (agentId: string) => boolean): void {
    for (const agentId of this.#heardMs.keys()) if (!isRunning(agentId)) this.#heardMs.delete(agentId);
  }
}
