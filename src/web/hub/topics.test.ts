import { expect, it } from 'vitest';
import type { State } from '../../state/state.ts';
import { topicsOf } from './topics.ts';

const state = {
  agents: new Map([['a1', { task: { task_id: 'T1' } }]]),
  pipelines: new Map([['p1', { task: { task_id: 'T2' } }]]),
} as unknown as State;

it.each([
  [{ data: { task_id: 'T9' } }, ['task:T9']],
  [{ data: { agent_id: 'a1' } }, ['agent:a1', 'task:T1']],
  [{ data: { agent_id: 'new', task: { task_id: 'T3' } } }, ['agent:new', 'task:T3']],
  [{ data: { pipeline_id: 'p1', decision_id: 'd1' } }, ['pipeline:p1', 'task:T2', 'decision:d1']],
  [{ data: { task_id: 7 } }, []],
  ['nonsense', []],
])('an entry %j is about %j', (entry, topics) => {
  expect([...topicsOf(entry, state)]).toEqual(['all', 'projects', ...topics]);
});
