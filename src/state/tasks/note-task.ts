import { event, type Events } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { AgentRun } from '../runs/agent-run.ts';
import { agentsOfClaim } from '../runs/find-run.ts';
import type { State } from '../state.ts';
import { refuseUnknownTask } from './create-task.ts';
import { isCancelled, type Task } from './task.ts';
import { refuseCancelled, refuseCompleted } from './update-task.ts';

/**
 * Records a person's note. The answer names the agent that gets the note at once; null if the next session reads it.
 */
export function decideNoteTask(state: State, note: Events['NoteAdded']): Outcome<{ readonly agentId: string | null }> {
  const task = state.tasks.get(note.task_id);
  if (task === undefined) return refuseUnknownTask(note.task_id);
  if (note.text.trim() === '') return refusal('empty-message', 'a note needs a text', 'Say what should be done.');
  if (isCancelled(task)) return refuseCancelled(task);
  const agent = findNoteReader(state, task);
  if (task.phase === 'COMPLETED' && task.nextRole === null && agent === undefined) return refuseCompleted(task);
  const decision = state.decisions.get(agent?.parked ?? '');
  if (agent !== undefined && decision !== undefined) {
    const message = `agent ${agent.id} waits for decision ${decision.id}: a note that is not part of the answer would not reach it`;
    return refusal('agent-parked', message, `Answer with the note: baton decision resolve ${decision.id} N -m "…"`);
  }
  return decided([event('NoteAdded', note)], { agentId: agent?.id ?? null });
}

/** The agent that works on the task. */
export function findNoteReader(state: State, { claim }: Task): AgentRun | undefined {
  return claim === null ? undefined : agentsOfClaim(state, claim.sessionId).at(-1);
}
