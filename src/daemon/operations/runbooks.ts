import * as operations from '../../api/operations/rules.ts';
import { hasLoosening } from '../../runbook/gates/compare-rules.ts';
import { actorOf } from '../../state/caller.ts';
import { findAdoption } from '../../state/rules.ts';
import { findReleasedTasks } from '../../state/tasks/task-rules.ts';
import { adoptedView } from '../rules/render-differences.ts';
import { answerFor, handlerFor } from './call.ts';

export const RUNBOOK_HANDLERS = {
  runbook_rules: handlerFor(operations.runbookRules, async ({ project }) => {
    const proposed = await project.adoptions?.propose();
    if (proposed?.ok === false) return proposed;
    const settled = await project.commandLoop.read(({ state }) => findAdoption(state) ?? null);
    const working = proposed === undefined ? null : adoptedView(proposed.proposal);
    return answerFor(settled, (in_force) => ({
      in_force,
      working: working === null ? null : { ...working, loosens: hasLoosening(working.differences) },
    }));
  }),

  runbook_adopt: handlerFor(operations.runbookAdopt, async ({ project, caller, input }) => {
    const adopted = await project.adoptions?.adoptWorking(actorOf(caller), input.accept_rules);
    if (adopted === undefined)
      return { ok: false, error: { code: 'internal', message: 'this project adopts no runbooks', hint: '' } };
    if (!adopted.ok) return adopted;
    const read = await project.commandLoop.read(({ state, rules }) => findReleasedTasks(state, rules));
    return answerFor(read, (ids) => ({ ...adoptedView(adopted), releases: [...ids] }));
  }),
};
