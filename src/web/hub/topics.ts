import { fieldOf, fieldsOf } from '../../protocol/shape/read-unknown.ts';
import type { State } from '../../state/state.ts';
import type { Topic } from './messages.ts';

/** The topics of an entry. Given the state, also the task of an agent or a pipeline. */
export function topicsOf(entry: unknown, state: Pick<State, 'agents' | 'pipelines'> | undefined): ReadonlySet<Topic> {
  const data = fieldOf(entry, 'data');
  const topics = new Set<Topic>(['all', 'projects']);
  for (const [name, id] of Object.entries(fieldsOf(data))) {
    if (typeof id !== 'string') continue;
    if (name === 'task_id') topics.add(`task:${id}`);
    if (name === 'agent_id') addAgent(topics, id, state);
    if (name === 'pipeline_id') addPipeline(topics, id, state);
    if (name === 'decision_id') topics.add(`decision:${id}`);
  }
  const task = fieldOf(fieldOf(data, 'task'), 'task_id');
  if (typeof task === 'string') topics.add(`task:${task}`);
  return topics;
}

function addAgent(topics: Set<Topic>, id: string, state: Pick<State, 'agents'> | undefined): void {
  topics.add(`agent:${id}`);
  const task = state?.agents.get(id)?.task?.task_id;
  if (task !== undefined) topics.add(`task:${task}`);
}

function addPipeline(topics: Set<Topic>, id: string, state: Pick<State, 'pipelines'> | undefined): void {
  topics.add(`pipeline:${id}`);
  const task = state?.pipelines.get(id)?.task?.task_id;
  if (task !== undefined) topics.add(`task:${task}`);
}
