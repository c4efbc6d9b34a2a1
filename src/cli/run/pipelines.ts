import { existsSync } from 'node:fs';
import { operationCommand } from '../operation-command.ts';
import { fieldsIn, listIn } from './read-fields.ts';
import { logsOf, renderOutput } from './show-output.ts';
import { renderFacts, renderTable } from '../table.ts';
import { parsePipeline, shortId, type PipelineView, type StepView } from './views.ts';
import { renderAge } from '../status/ago.ts';
import { paint } from '../status/paint.ts';
import { stepPieces } from '../status/pipeline-item.ts';

export const pipelineArgument = { name: 'ID', about: 'The pipeline, or the beginning of its id' } as const;

export const pipelineListCommand = operationCommand({
  name: 'pipeline list',
  summary: 'List the running pipelines, oldest first',
  examples: ['baton pipeline list', 'baton pipeline list --all'],
  options: [{ name: 'all', short: 'a', about: 'Also those that are over' }],
  operation: 'pipeline_list',
  input: ({ options }) => ({ value: options.has('all') ? { all: true } : {} }),
  show: (result) => {
    const pipelines = listIn(fieldsIn(result)['pipelines']).map(parsePipeline);
    if (pipelines.length === 0) return 'No pipelines.\n';
    const now = Date.now();
    return renderTable(
      pipelines.map((pipeline) => [
        shortId(pipeline.id),
        pipeline.name,
        pipeline.status,
        currentStep(pipeline),
        renderAge(pipeline.since, now),
        pipeline.reason ?? '',
      ]),
    );
  },
});

export const pipelineShowCommand = operationCommand({
  name: 'pipeline show',
  summary: 'Show one pipeline with its steps',
  examples: ['baton pipeline show 3f1c9a2e'],
  args: [pipelineArgument],
  operation: 'pipeline_show',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: (result) => renderPipeline(parsePipeline(fieldsIn(result))),
});

export function renderPipeline(pipeline: PipelineView): string {
  const { id, name, status, taskId, since, endedAt, workspace, reason, decisionId } = pipeline;
  const facts = renderFacts(`${name}  ${id}`, [
    ['status', status],
    ['reason', reason],
    ['decide', decisionId === null ? null : `baton decision show ${shortId(decisionId)}`],
    ['task', taskId],
    ['started', since],
    ['ended', endedAt],
    ['worktree', workspace],
  ]);
  const whole = { columns: Infinity, colors: false };
  const steps = pipeline.steps.map((step) => {
    const line = paint([['    '], ...stepPieces(step, Date.now())], whole);
    return [line, ...(step.status === 'failed' ? outputBelow(step) : [])].map((text) => `${text}\n`).join('');
  });
  return `${facts}  steps\n${steps.join('')}`;
}

function outputBelow({ output, log, agentId }: StepView): string[] {
  return renderOutput(output ?? '', '      ', log !== null && existsSync(log) ? log : logsOf(agentId));
}

function currentStep({ steps }: PipelineView): string {
  return steps.find(({ status }) => status === 'running' || status === 'waiting')?.name ?? '-';
}
