import * as operations from '../api/decision-operations.ts';
import type { Decision } from '../state/runs/decision.ts';
import { findRun } from './find-run.ts';
import { answerOf, handle, type Handler } from './handler.ts';
import { orderFor } from './order-for.ts';
import { decisionView } from './run-views.ts';
import { watchRun } from './watch-run.ts';

export const DECISION_HANDLERS: Readonly<Record<string, Handler>> = {
  decision_list: handle(operations.decisionList, async ({ input, project }) => {
    const settled = await project.keeper.read(({ state }) =>
      [...state.decisions.values()].filter(({ result }) => input.all === true || result === null).map(decisionView),
    );
    return answerOf(settled, (decisions) => ({ decisions }));
  }),

  decision_show: handle(operations.decisionShow, async (call) =>
    watchRun(call, 0, (state) => {
      const found = findRun(state.decisions, call.input.id, 'decision');
      return found.ok ? { ok: true, view: decisionView(found.run), isSettled: true } : found;
    }),
  ),

  decision_resolve: handle(operations.decisionResolve, async (call) => {
    const { option, message } = call.input;
    const settled = await orderFor<Decision, { id: string; option: number; action: string }>(
      call,
      (state) => findRun(state.decisions, call.input.id, 'decision'),
      ({ id }) => ({
        kind: 'resolve-decision',
        command: { id, option, ...(message === undefined ? {} : { message }) },
      }),
    );
    return answerOf(settled, (resolved) => resolved);
  }),
};
