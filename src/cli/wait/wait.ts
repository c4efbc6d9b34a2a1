import type { WaitedRun } from '../../api/operations/run-wait.ts';
import { type TaskWait, taskWait } from '../../api/operations/task-work.ts';
import type { AgentDetails } from '../../api/operations/runs.ts';
import type { PipelineView } from '../../api/run-views.ts';
import { list, object } from '../../protocol/shape/build-shape.ts';
import { renderAgent } from '../agents/agents.ts';
import { renderPipeline } from '../run/pipelines.ts';
import { createWaitCommand, readEach } from './create-wait-command.ts';
import { renderWaits } from './render-waits.ts';

export const waitCommand = createWaitCommand({
  examples: [
    'baton wait W-00001 3f1c9a2e',
    'baton wait P0.1 P0.2 --any --timeout 10m',
    'baton wait 3f1c9a2e 5d0e7b41 --json',
  ],
  about: 'The task, or the beginning of the id of a pipeline or agent',
  more: 'More tasks, pipelines or agents',
  read: async (ended) => ({ ok: true, result: ended }),
  json: (ended) => [ended],
  documents: [{ result: 'run_wait' }],
  show: ({ waits }) => renderWaits(waits),
});

export const taskWaitCommand = createWaitCommand({
  kind: 'task',
  examples: [
    'baton task wait P0.1.1',
    'baton task wait P0.1.1 P0.1.2 --timeout 10m',
    'baton task wait T1 T2 --any --json',
  ],
  about: 'The task',
  more: 'More tasks',
  read: async ({ waits }, client) =>
    readEach<TaskWait>(waits, async ({ id }) => client.call('task_wait', { task_id: id })),
  json: (tasks) => [{ tasks }],
  documents: [{ shape: object({ tasks: list(taskWait.result) }) }],
  show: (tasks) => renderWaits(tasks.map(waitedTask)),
});

export const pipelineWaitCommand = createWaitCommand({
  kind: 'pipeline',
  examples: [
    'baton pipeline wait 3f1c9a2e',
    'baton pipeline wait 3f1c9a2e --timeout 600',
    'baton pipeline wait 3f1c9a2e 8a0c2b71 --any',
  ],
  about: 'The pipeline, or the beginning of its id',
  more: 'More pipelines',
  read: async ({ waits }, client) =>
    readEach<PipelineView>(waits, async ({ id }) => client.call('pipeline_show', { id })),
  json: (pipelines) => pipelines,
  documents: [{ lines: true, result: 'pipeline_show' }],
  show: (pipelines) => pipelines.map(renderPipeline).join('\n'),
});

export const agentWaitCommand = createWaitCommand({
  kind: 'agent',
  examples: [
    'baton agent wait 5d0e7b41',
    'baton agent wait 5d0e7b41 --timeout 600',
    'baton agent wait 5d0e7b41 71c3e8d0 --any',
  ],
  about: 'The agent, or the beginning of its id',
  more: 'More agents',
  read: async ({ waits }, client) => readEach<AgentDetails>(waits, async ({ id }) => client.call('agent_show', { id })),
  json: (agents) => agents,
  documents: [{ lines: true, result: 'agent_show' }],
  show: (agents) => agents.map(renderAgent).join('\n'),
});

function waitedTask({ task_id: id, title: name, state, phase: at, reason, decision_ids }: TaskWait): WaitedRun {
  return { kind: 'task', id, name, state, at, reason, decision_ids };
}
