import type { SilenceMeasure } from '../../api/all-clear.ts';
import { pendingActions } from '../../engine/context.ts';
import type { Caller } from '../../state/caller.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { State } from '../../state/state.ts';

export interface SilenceClocks {
  readonly lastReports: Pick<LastReports, 'silentMs' | 'isFrozen'>;
  readonly silenceMs: number;
  readonly nowMs: number;
  readonly now: Date;
}

/**
 * Measures an agent's silence. An agent without a process is measured from when it should have one. While a timer or a
 * gate is set for it, it is not silent.
 */
export function measureSilence(state: State, agentId: string, clocks: SilenceClocks): SilenceMeasure | undefined {
  const run = state.agents.get(agentId);
  if (run === undefined) return undefined;
  const { lastReports, silenceMs: limitMs, nowMs, now } = clocks;
  if (run.process === 'running') return { silentMs: lastReports.silentMs(agentId, nowMs), limitMs };
  if (run.process === 'gone' && pendingActions(state, agentId).length > 0) return { silentMs: 0, limitMs };
  return { silentMs: Math.max(0, now.getTime() - sinceMs(run)), limitMs };
}

function sinceMs({ since, exit }: AgentRun): number {
  return Math.max(Date.parse(since), exit === null ? 0 : Date.parse(exit.at));
}

/**
 * The last report of each agent's supervisor, on the monotonic clock. The agent's own calls do not count. Not durable.
 */
export class LastReports {
  readonly #startedMs: number;
  readonly #heardMs = new Map<string, number>();
  /** Sessions that their supervisor has frozen, by id, and the time of the last such report. */
  readonly #frozenMs = new Map<string, number>();

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  note(caller: Caller, atMs: number): void {
    if (caller.kind === 'supervisor') this.noteAgent(caller.agentId, atMs);
  }

  noteAgent(agentId: string, atMs: number): void {
    this.#heardMs.set(agentId, Math.max(atMs, this.#heardMs.get(agentId) ?? -Infinity));
  }

  /** Records whether the session is frozen because its renewals are not acknowledged. Called with every renewal. */
  noteFrozen(sessionId: string, isFrozen: boolean, atMs: number): void {
    if (isFrozen) this.#frozenMs.set(sessionId, atMs);
    else this.#frozenMs.delete(sessionId);
  }

  isFrozen(sessionId: string, nowMs: number): boolean {
    return nowMs - (this.#frozenMs.get(sessionId) ?? -Infinity) < FROZEN_MS;
  }

  /** Undefined if this daemon received no report about the agent. */
  lastReportMs(agentId: string): number | undefined {
    return this.#heardMs.get(agentId);
  }

  /** Milliseconds since the last report; if there is none, since this daemon started. */
  silentMs(agentId: string, nowMs: number): number {
    return Math.max(0, nowMs - (this.#heardMs.get(agentId) ?? this.#startedMs));
  }

  keepOnly(isRunning: (agentId: string) => boolean): void {
    for (const agentId of this.#heardMs.keys()) if (!isRunning(agentId)) this.#heardMs.delete(agentId);
  }
}

/** How long such a report counts. A frozen session is reported every second. */
const FROZEN_MS = 10_000;
