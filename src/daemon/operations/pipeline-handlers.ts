import * as operations from '../../api/operations/runs.ts';
import type { Command } from '../../state/decide.ts';
import type { PipelineRun } from '../../state/runs/pipeline-run.ts';
import { overallPipelineStatus } from '../../state/runs/steer-pipeline.ts';
import type { State } from '../../state/state.ts';
import type { Call } from './call.ts';
import { findRunByPrefix } from './run-lookup.ts';
import { answerFor, handlerFor, type OperationHandler } from './handler.ts';
import { pipelineView } from './run-views.ts';
import { submitRunCommand } from './order-for.ts';
import { waitForRun } from './watch-run.ts';

export const PIPELINE_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  pipeline_list: handlerFor(operations.pipelineList, async ({ input, project }) => {
    const settled = await project.commandLoop.read(({ state }) =>
      [...state.pipelines.values()]
        .filter(({ outcome }) => input.all === true || outcome === null)
        .map((run) => pipelineView(state, run, project.stateDir)),
    );
    return answerFor(settled, (pipelines) => ({ pipelines }));
  }),

  pipeline_show: handlerFor(operations.pipelineShow, async (call) =>
    waitForRun(call, call.input.wait_ms ?? 0, (state) => {
      const found = findRunByPrefix(state.pipelines, call.input.id, 'pipeline');
      if (!found.ok) return found;
      return {
        ok: true,
        view: pipelineView(state, found.run, call.project.stateDir),
        isSettled: overallPipelineStatus(state, found.run) !== 'running',
      };
    }),
  ),

  pipeline_cancel: handlerFor(operations.pipelineCancel, async (call) => {
    const { reason } = call.input;
    return submitPipelineCommand(call, ({ id }) => {
      const command = { id, ...(reason === undefined ? {} : { reason }) };
      return { kind: 'cancel-pipeline', command };
    });
  }),

  pipeline_retry: handlerFor(operations.pipelineRetry, async (call) => {
    const newId = call.services.newId();
    return submitPipelineCommand(call, ({ id }) => ({ kind: 'retry-pipeline', command: { id, newId } }));
  }),

  pipeline_resume: handlerFor(operations.pipelineResume, async (call) => {
    const { message } = call.input;
    return submitPipelineCommand(call, ({ id }) => {
      const command = { id, ...(message === undefined ? {} : { message }) };
      return { kind: 'resume-pipeline', command };
    });
  }),
};

async function submitPipelineCommand(call: Call<{ readonly id: string }>, command: (run: PipelineRun) => Command) {
  const find = (state: State) => findRunByPrefix(state.pipelines, call.input.id, 'pipeline');
  return answerFor(await submitRunCommand<PipelineRun, { id: string }>(call, find, command), ({ id }) => ({ id }));
}
