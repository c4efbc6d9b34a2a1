import type { RecordedEvent } from '../event.ts';
import type { Effect } from '../runs/effect.ts';
import type { SuspectSession } from './live-session.ts';

/** A command that has ended, and when that was recorded. */
export interface EndedCommand extends SuspectSession {
  readonly at: string;
}

/**
 * The command of an effect, if it runs without a sandbox and may run code that an agent wrote: checks and gates run what a branch
 * contains. Such a command can move a branch of the repository just as a session can.
 */
export function findUnsandboxedCommand(effect: Effect): SuspectSession | undefined {
  switch (effect.kind) {
    case 'run-checks':
      return { id: effect.checksId, name: 'checks', task_id: effect.taskId };
    case 'merge': {
      const runsCode = effect.checks.some(({ run }) => run !== undefined);
      return runsCode ? { id: effect.mergeId, name: 'checks of a merge', task_id: effect.taskId } : undefined;
    }
    case 'run-command': {
      const { subject, commandId: id } = effect;
      const name = subject.kind === 'step' ? `step ${subject.step}` : `gate ${subject.handler}`;
      return { id, name, task_id: null };
    }
    default:
      return undefined;
  }
}

/** The last command that an entry ended. */
export function findEndedCommand(
  { type, at }: Pick<RecordedEvent, 'type' | 'at'>,
  settled: readonly Effect[],
): EndedCommand | undefined {
  const isGivenUp = type === 'AgentStartFailed' || type === 'AgentKillRequested';
  const ended = settled
    .map((effect) =>
      isGivenUp && effect.kind === 'start-agent' ? findSetupCommand(effect.agentId) : findUnsandboxedCommand(effect),
    )
    .findLast((command) => command !== undefined);
  return ended && { ...ended, at };
}

/** The start of an agent runs the setup of its workspace. If it is given up, there was no session that could be named instead. */
function findSetupCommand(agentId: string): SuspectSession {
  return { id: agentId, name: 'setup of a workspace', task_id: null };
}
