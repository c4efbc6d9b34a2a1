import * as operations from '../../api/operations/decision-operations.ts';
import type { Decision } from '../../state/runs/decision.ts';
import { findRunByPrefix } from './run-lookup.ts';
import { answerFor, handlerFor, type OperationHandler } from './handler.ts';
import { submitRunCommand } from './order-for.ts';
import { decisionView } from './run-views.ts';
import { waitForRun } from './watch-run.ts';

export const DECISION_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  decision_list: handlerFor(operations.decisionList, async ({ input, project }) => {
    const settled = await project.commandLoop.read(({ state }) =>
      [...state.decisions.values()].filter(({ result }) => input.all === true || result === null).map(decisionView),
    );
    return answerFor(settled, (decisions) => ({ decisions }));
  }),

  decision_show: handlerFor(operations.decisionShow, async (call) =>
    waitForRun(call, 0, (state) => {
      const found = findRunByPrefix(state.decisions, call.input.id, 'decision');
      return found.ok ? { ok: true, view: decisionView(found.run), isSettled: true } : found;
    }),
  ),

  decision_resolve: handlerFor(operations.decisionResolve, async (call) => {
    const { option, message } = call.input;
    const settled = await submitRunCommand<Decision, { id: string; option: number; action: string }>(
      call,
      (state) => findRunByPrefix(state.decisions, call.input.id, 'decision'),
      ({ id }) => ({
        kind: 'resolve-decision',
        command: { id, option, ...(message === undefined ? {} : { message }) },
      }),
    );
    return answerFor(settled, (resolved) => resolved);
  }),
};
