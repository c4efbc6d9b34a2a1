import type { AttemptLimit, StopAction } from './run-plan.ts';
import type { StopHookOutput } from './stop-hook.ts';

/** What is known about an agent in the moment in which it tries to end its turn. */
export interface StopAttempt {
  readonly agentId: string;
  readonly onStop: StopAction;
  /** Undefined where the runbook gives none. */
  readonly attempts: AttemptLimit | undefined;
  /** The agent continues because of an earlier block: the client's flag, or the supervisor's own count if that flag cannot be trusted. */
  readonly isHookActive: boolean;
  /** Blocks in a row, since the agent last made progress. */
  readonly blocks: number;
  /** All blocks of the run, over all its processes; progress does not reset it. */
  readonly totalBlocks: number;
  /** `limits.blocks`: once the run has had this many blocks, the agent is let go. */
  readonly maxBlocks: number;
  /** It has signalled, or its exit signal was accepted, or either waits in the outbox. */
  readonly hasSignalled: boolean;
  /** A pipeline step or a standalone run still waits for it. */
  readonly isOwned: boolean;
  /** A person was called, and the agent may rest until they answer. */
  readonly isParked: boolean;
  /** What the session still owes, in words. */
  readonly missing: readonly string[];
}

export interface StopDecision {
  readonly output: StopHookOutput;
  /** What must be on record before the answer is given. */
  readonly records: 'idle' | 'stop' | null;
}

/**
 * May this agent stop? The one order of checks, for every place that can be asked: the supervisor over HTTP, the command hook, the
 * daemon for agents that have no supervisor.
 */
export function decideStop(attempt: StopAttempt): StopDecision {
  if (isLoop(attempt)) return ALLOW;
  if (attempt.hasSignalled || !attempt.isOwned || attempt.isParked) return ALLOW;
  switch (attempt.onStop) {
    case 'signal':
      return block(mustSignal(attempt), null);
    case 'idle':
      return block('Stop hook: on_idle handler invoked. Continue working or signal completion.', 'idle');
    case 'escalate':
      return block('A human has been notified. Wait for instructions or signal completion.', 'stop');
  }
}

/** The default of `limits.blocks`. */
export const MAX_BLOCKS = 25;

const ALLOW: StopDecision = { output: { decision: 'allow' }, records: null };

function block(reason: string, records: StopDecision['records']): StopDecision {
  return { output: { decision: 'block', reason }, records };
}

/** The ceiling of the run comes first. Then `attempts` decides by the count alone; without it the client's flag does. */
function isLoop({ attempts, isHookActive, blocks, totalBlocks, maxBlocks }: StopAttempt): boolean {
  if (totalBlocks >= maxBlocks) return true;
  if (attempts === undefined) return isHookActive;
  return attempts !== 'forever' && blocks >= attempts;
}

function mustSignal({ agentId, missing }: StopAttempt): string {
  const owed = missing.length === 0 ? '' : `\nStill missing: ${missing.join(', ')}.`;
  return (
    `You must explicitly signal completion before stopping. Run: baton emit agent:signal --agent ${agentId} '<json>'\n` +
    'where <json> is {"kind":"complete","message":"…"} when the work is done, {"kind":"escalate","message":"…"} when a person is ' +
    `needed, or {"kind":"continue"} while you are still working.${owed}`
  );
}
