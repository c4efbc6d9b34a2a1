import { operationCommand, pickOptions } from '../operation-command.ts';
import { fieldsIn, textIn } from './read-fields.ts';
import { exitCodeOfOutcome, WAIT_EXIT_CODES, parseWaitInput, WAIT_OPTIONS } from '../wait.ts';
import { parsePipeline, shortId } from './views.ts';
import { pipelineArgument, renderPipeline } from './pipelines.ts';

export const pipelineWaitCommand = operationCommand({
  name: 'pipeline wait',
  summary: 'Wait until a pipeline has ended or needs a person',
  examples: ['baton pipeline wait 3f1c9a2e', 'baton pipeline wait 3f1c9a2e --timeout 600'],
  args: [pipelineArgument],
  options: WAIT_OPTIONS,
  operation: 'pipeline_show',
  input: parseWaitInput,
  show: (result) => renderPipeline(parsePipeline(fieldsIn(result))),
  exitCode: exitCodeOfOutcome,
  exitCodes: WAIT_EXIT_CODES,
});

export const pipelineCancelCommand = operationCommand({
  name: 'pipeline cancel',
  summary: 'Cancel a pipeline and everything that runs in it',
  examples: ['baton pipeline cancel 3f1c9a2e -m "wrong branch"'],
  args: [pipelineArgument],
  options: [{ name: 'message', short: 'm', value: 'TEXT', about: 'Why: it is recorded' }],
  operation: 'pipeline_cancel',
  input: (given) => ({ value: { id: given.args[0], ...pickOptions(given, { message: 'reason' }) } }),
  show: (_, { args: [id = ''] }) => `Pipeline ${shortId(id)} is being cancelled.\n`,
});

export const pipelineResumeCommand = operationCommand({
  name: 'pipeline resume',
  summary: 'Resume a waiting pipeline in the same conversation',
  examples: ['baton pipeline resume 3f1c9a2e -m "The tests are in test/unit"'],
  args: [pipelineArgument],
  options: [{ name: 'message', short: 'm', value: 'TEXT', about: 'What the agent is told' }],
  operation: 'pipeline_resume',
  input: (given) => ({ value: { id: given.args[0], ...pickOptions(given, { message: 'message' }) } }),
  show: (_, { args: [id = ''] }) => `Pipeline ${shortId(id)} goes on.\n`,
});

export const pipelineRetryCommand = operationCommand({
  name: 'pipeline retry',
  summary: 'Restart the step at which a pipeline waits, or a pipeline that failed',
  examples: ['baton pipeline retry 3f1c9a2e'],
  args: [pipelineArgument],
  operation: 'pipeline_retry',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: (result, { args: [id = ''] }) => describeRetry(id, textIn(fieldsIn(result)['id'])),
});

/** One that is over stays as it ended: another takes its place. */
function describeRetry(asked: string, id: string): string {
  if (id.startsWith(asked)) return `Pipeline ${shortId(id)} tries its step again.\n`;
  return `Pipeline ${shortId(asked)} is over. Started ${id} in its place. Wait for it: baton pipeline wait ${shortId(id)}\n`;
}
