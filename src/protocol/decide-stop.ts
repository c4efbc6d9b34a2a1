import { SEND_TOOLS } from './handoff/judge.ts';
import type { AttemptLimit, StopAction } from './run-plan.ts';
import type { StopHookOutput } from './stop-hook.ts';

export interface StopAttempt {
  readonly agentId: string;
  readonly onStop: StopAction;
  readonly attempts: AttemptLimit | undefined;
  /**
   * Whether the agent continues because of an earlier block: the client's flag, or the supervisor's own count if that
   * flag is unreliable.
   */
  readonly isHookActive: boolean;
  /** Consecutive blocks since the agent last made progress. */
  readonly blocks: number;
  /** All blocks of the run, over all its processes. Progress does not reset this count. */
  readonly totalBlocks: number;
  /** `limits.blocks`: after this many blocks in a run, the agent may stop. */
  readonly maxBlocks: number;
  /** Whether the agent has sent a signal, its exit signal was accepted, or one of them waits in the outbox. */
  readonly hasSignalled: boolean;
  /** Whether a pipeline step or a standalone run still waits for the agent. */
  readonly isOwned: boolean;
  /** Whether a person was asked and the agent may stop until the answer arrives. */
  readonly isParked: boolean;
  readonly missing: readonly string[];
  /** Whether the agent judges, and its messages count only as tool calls of its own client. */
  readonly usesTools: boolean;
}

export interface StopDecision {
  readonly output: StopHookOutput;
  /** The event that must be recorded before the hook is answered. */
  readonly records: 'idle' | 'stop' | null;
}

/**
 * Decides whether an agent may stop. The supervisor, the command hook and the daemon (for agents without a supervisor)
 * all use this order of checks.
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

export const MAX_BLOCKS = 25;
const ALLOW: StopDecision = { output: { decision: 'allow' }, records: null };

function block(reason: string, records: StopDecision['records']): StopDecision {
  return { output: { decision: 'block', reason }, records };
}

/** The run's limit comes first. If `attempts` is set, the count decides next, otherwise the client's flag. */
function isLoop({ attempts, isHookActive, blocks, totalBlocks, maxBlocks }: StopAttempt): boolean {
  if (totalBlocks >= maxBlocks) return true;
  if (attempts === undefined) return isHookActive;
  return attempts !== 'forever' && blocks >= attempts;
}

function mustSignal({ agentId, missing, usesTools }: StopAttempt): string {
  const named = missing.map((each) => (usesTools ? `${each} (the tool \`${SEND_TOOLS[each] ?? each}\`)` : each));
  const owed = named.length === 0 ? '' : `\nStill missing: ${named.join(', ')}.`;
  const how = usesTools
    ? 'Use the tool `agent_signal` with the fields of <json>'
    : `Run: baton emit agent:signal --agent ${agentId} '<json>'`;
  return (
    `You must explicitly signal completion before stopping. ${how}\n` +
    'where <json> is {"kind":"complete","message":"…"} when the work is done, {"kind":"escalate","message":"…"} when a person is ' +
    `needed, or {"kind":"continue"} while you are still working.${owed}`
  );
}
