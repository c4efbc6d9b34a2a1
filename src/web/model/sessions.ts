import type { SessionView } from '../../api/operations/task-view.ts';

/** The states in which an agent reads messages. */
const READS: ReadonlySet<string> = new Set(['starting', 'running', 'attached', 'escalated']);

export function canRead(status: string | null): boolean {
  return status !== null && READS.has(status);
}

export interface Reader {
  readonly agentId: string;
  readonly name: string;
  /** Whether it waits for a decision, which a message answers. */
  readonly isParked: boolean;
}

/**
 * The possible targets of a comment: the agent that works on the task, the next session, or the note of the answer to
 * its open decision.
 */
export interface CommentTargets {
  readonly agent: Reader | undefined;
  readonly decisionId: string | undefined;
  /** Whether no further session will read a note. */
  readonly isOver: boolean;
}

interface CommentedTask {
  readonly status: string;
  readonly sessions: readonly ReadableSession[];
  readonly decisions: readonly { readonly id: string; readonly status: string }[];
}

export function findTargets(task: CommentedTask | undefined, preferredAgent?: string): CommentTargets {
  return {
    agent: findReader(task?.sessions ?? [], preferredAgent),
    decisionId: task?.decisions.findLast(({ status }) => status === 'open')?.id,
    isOver: task?.status === 'done' || task?.status === 'cancelled',
  };
}

type ReadableSession = Pick<SessionView, 'agent_id' | 'agent' | 'status'>;

/** The agent that would read a message about the task: the preferred one if it can, else the newest that can. */
export function findReader(sessions: readonly ReadableSession[], preferred?: string): Reader | undefined {
  const readers = sessions.filter(({ status }) => canRead(status));
  const chosen = readers.find(({ agent_id: id }) => id !== null && id === preferred) ?? readers.at(-1);
  if (chosen === undefined || chosen.agent_id === null) return undefined;
  const { agent_id: agentId, agent, status } = chosen;
  return { agentId, name: agent ?? agentId.slice(0, 8), isParked: status === 'escalated' };
}

/** Renders `session 2 (reviewer)`, with the number and role that people know. */
export function nameSession({ role, agent, holder }: SessionLabel, index: number): string {
  return `session ${index + 1} (${role ?? agent ?? holder})`;
}

type SessionLabel = Pick<SessionView, 'role' | 'agent' | 'holder'>;
