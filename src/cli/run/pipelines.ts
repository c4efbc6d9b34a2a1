import { existsSync } from 'node:fs';
import type { PipelineView, StepView } from '../../api/run-views.ts';
import { operationCommand, pickOptions } from '../operation-command.ts';
import { columnsOf, paint, renderAge } from '../status/paint.ts';
import { stepPieces } from '../status/pipeline-item.ts';
import { renderFacts, renderTable } from '../table.ts';
import { printable, shortId } from '../text.ts';

export const pipelineArgument = { name: 'ID', about: 'The pipeline, or the beginning of its id' } as const;

export const pipelineListCommand = operationCommand({
  examples: ['baton pipeline list', 'baton pipeline list --all'],
  options: [{ name: 'all', short: 'a', about: 'Include those that have ended' }],
  operation: 'pipeline_list',
  input: ({ options }) => ({ value: options.has('all') ? { all: true } : {} }),
  show: ({ pipelines }, { options }, io) => {
    if (pipelines.length === 0)
      return options.has('all') ? 'No pipelines.\n' : 'No running pipelines. Ended ones: baton pipeline list --all\n';
    const now = Date.now();
    const isFleet = pipelines.some(({ host }) => host !== undefined);
    const rows = pipelines.map((pipeline) => [
      shortId(pipeline.id),
      pipeline.name,
      pipeline.status,
      ...(isFleet ? [pipeline.host ?? '-'] : []),
      currentStep(pipeline),
      renderAge(pipeline.started_at, now),
      pipeline.reason ?? '',
    ]);
    const headings = ['ID', 'NAME', 'STATUS', ...(isFleet ? ['HOST'] : []), 'STEP', 'AGE', 'REASON'];
    return renderTable([headings, ...rows], columnsOf(io));
  },
});

export const ackCommand = operationCommand({
  examples: ['baton ack 3f1c9a2e'],
  args: [{ name: 'ID', about: 'The pipeline or agent that failed, or the beginning of its id' }],
  operation: 'run_ack',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: ({ id }) => `Acknowledged ${shortId(id)}: it no longer needs you.\n`,
});

export const pipelineShowCommand = operationCommand({
  examples: ['baton pipeline show 3f1c9a2e'],
  args: [pipelineArgument],
  operation: 'pipeline_show',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: renderPipeline,
});

export function renderPipeline(pipeline: PipelineView): string {
  const { id, name, status, task_id, started_at, ended_at, workspace, reason, decision_id } = pipeline;
  const facts = renderFacts(`${name}  ${id}`, [
    ['status', status],
    ['reason', reason],
    ['decide', decision_id === null ? null : `baton decision show ${shortId(decision_id)}`],
    ['task', task_id],
    ['host', pipeline.host ?? null],
    ['started', started_at],
    ['ended', ended_at],
    ['worktree', workspace?.path ?? null],
  ]);
  const whole = { columns: Infinity, colors: false };
  const steps = pipeline.steps.map((step) => {
    const line = paint([['    '], ...stepPieces(step, Date.now())], whole);
    return [line, ...(step.status === 'failed' ? outputBelow(step) : [])].map((text) => `${text}\n`).join('');
  });
  return `${facts}  steps\n${steps.join('')}`;
}

function outputBelow({ output, log, agent_id }: StepView): string[] {
  return renderOutput(output ?? '', '      ', log !== null && existsSync(log) ? log : logsOf(agent_id));
}

function currentStep({ steps }: PipelineView): string {
  return steps.find(({ status }) => status === 'running' || status === 'waiting')?.name ?? '-';
}

export const pipelineCancelCommand = operationCommand({
  examples: ['baton pipeline cancel 3f1c9a2e --reason "wrong branch"'],
  args: [pipelineArgument],
  options: [{ name: 'reason', value: 'TEXT', formerly: ['--message', '-m'], about: 'The reason, which is recorded' }],
  operation: 'pipeline_cancel',
  input: (given) => ({ value: { id: given.args[0], ...pickOptions(given, { reason: 'reason' }) } }),
  show: (_, { args: [id = ''] }) => `Pipeline ${shortId(id)} is being cancelled.\n`,
});

export const pipelineResumeCommand = operationCommand({
  examples: ['baton pipeline resume 3f1c9a2e -m "The tests are in test/unit"'],
  args: [pipelineArgument],
  options: [{ name: 'message', short: 'm', value: 'TEXT', about: 'A message for the agent' }],
  operation: 'pipeline_resume',
  input: (given) => ({ value: { id: given.args[0], ...pickOptions(given, { message: 'message' }) } }),
  show: (_, { args: [id = ''] }) => `Pipeline ${shortId(id)} resumes.\n`,
});

export const pipelineRetryCommand = operationCommand({
  examples: ['baton pipeline retry 3f1c9a2e'],
  args: [pipelineArgument],
  operation: 'pipeline_retry',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: (retried, { args: [id = ''] }) => describeRetry(id, retried.id),
});

/** A pipeline that has ended is replaced by a new one. */
function describeRetry(asked: string, id: string): string {
  if (id.startsWith(asked)) return `Pipeline ${shortId(id)} retries its step.\n`;
  return `Pipeline ${shortId(asked)} has ended. Started ${id} in its place. Wait for it: baton pipeline wait ${shortId(id)}\n`;
}

export function renderOutput(output: string, indent: string, where: string | null): string[] {
  const lines = output.trimEnd().split('\n');
  const last = lines.slice(-SHOWN_LINES).map((line) => shorten(printable(line.trimEnd())));
  const shown = [...(lines.length > SHOWN_LINES ? ['…'] : []), ...(output.trim() === '' ? [] : last)];
  const rest = where === null ? [] : [`full output: ${printable(where)}`];
  return [...shown, ...rest].map((line) => `${indent}${line}`.trimEnd());
}

const SHOWN_LINES = 10;

function shorten(line: string): string {
  return line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)}…` : line;
}

const MAX_LINE_CHARACTERS = 300;

export function logsOf(agentId: string | null): string | null {
  return agentId === null ? null : `baton agent logs ${shortId(agentId)}`;
}
