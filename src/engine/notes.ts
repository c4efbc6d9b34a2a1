import { event, type Event, type EventOf, type RecordedEvent } from '../state/event.ts';
import { describeNote } from '../state/packet/describe-message.ts';
import { findNoteReader } from '../state/tasks/note-task.ts';
import type { Task } from '../state/tasks/task.ts';
import type { EngineContext } from './context.ts';

/** On `NoteAdded`: sends the note to the agent on the task. Without one, the next session reads it in its packet. */
export function sendNote(
  { state, newId }: EngineContext,
  task: Task,
  note: EventOf<'NoteAdded'>['data'],
  { actor }: Pick<RecordedEvent, 'actor'>,
): Event[] {
  const agent = findNoteReader(state, task);
  if (agent === undefined || agent.parked !== null) return [];
  const text = `A note from ${actor}. ${describeNote(note)}`;
  return [event('MessageRequested', { message_id: newId(), agent_id: agent.id, text })];
}
