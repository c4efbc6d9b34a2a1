import * as operations from '../api/run-operations.ts';
import type { Command } from '../state/decide.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import { statusOfPipeline } from '../state/runs/steer-pipeline.ts';
import type { State } from '../state/state.ts';
import type { Call } from './call.ts';
import { findRun } from './find-run.ts';
import { answerOf, handle, type Handler } from './handler.ts';
import { pipelineView } from './run-views.ts';
import { orderFor } from './order-for.ts';
import { watchRun } from './watch-run.ts';

export const PIPELINE_HANDLERS: Readonly<Record<string, Handler>> = {
  pipeline_list: handle(operations.pipelineList, async ({ input, project }) => {
    const settled = await project.keeper.read(({ state }) =>
      [...state.pipelines.values()]
        .filter(({ outcome }) => input.all === true || outcome === null)
        .map((run) => pipelineView(state, run, project.stateDir)),
    );
    return answerOf(settled, (pipelines) => ({ pipelines }));
  }),

  pipeline_show: handle(operations.pipelineShow, async (call) =>
    watchRun(call, call.input.wait_ms ?? 0, (state) => {
      const found = findRun(state.pipelines, call.input.id, 'pipeline');
      if (!found.ok) return found;
      return {
        ok: true,
        view: pipelineView(state, found.run, call.project.stateDir),
        isSettled: statusOfPipeline(state, found.run) !== 'running',
      };
    }),
  ),

  pipeline_cancel: handle(operations.pipelineCancel, async (call) => {
    const { reason } = call.input;
    return steer(call, ({ id }) => {
      const command = { id, ...(reason === undefined ? {} : { reason }) };
      return { kind: 'cancel-pipeline', command };
    });
  }),

  pipeline_retry: handle(operations.pipelineRetry, async (call) => {
    const newId = call.services.newId();
    return steer(call, ({ id }) => ({ kind: 'retry-pipeline', command: { id, newId } }));
  }),

  pipeline_resume: handle(operations.pipelineResume, async (call) => {
    const { message } = call.input;
    return steer(call, ({ id }) => {
      const command = { id, ...(message === undefined ? {} : { message }) };
      return { kind: 'resume-pipeline', command };
    });
  }),
};

async function steer(call: Call<{ readonly id: string }>, command: (run: PipelineRun) => Command) {
  const find = (state: State) => findRun(state.pipelines, call.input.id, 'pipeline');
  return answerOf(await orderFor<PipelineRun, { id: string }>(call, find, command), ({ id }) => ({ id }));
}
