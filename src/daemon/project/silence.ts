import type { SilenceMeasure } from '../../api/proofs.ts';
import { pendingActions } from '../../engine/pending.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { State } from '../../state/state.ts';
import type { LastReports } from './last-reports.ts';

export interface SilenceClocks {
  readonly lastReports: Pick<LastReports, 'silentMs'>;
  /** `limits.silence` */
  readonly silenceMs: number;
  /** Of the monotonic clock. */
  readonly nowMs: number;
  readonly now: Date;
}

/**
 * How long an agent that counts as running has not been heard of. Supervisors report for as long as their process lives, whatever the agent does.
 * An agent without a process is measured from the moment since which it should have one; while a timer or a gate is set for it, it waits for that.
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
