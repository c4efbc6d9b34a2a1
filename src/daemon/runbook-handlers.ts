import * as operations from '../api/runbook-operations.ts';
import { loosens } from '../runbook/compare-rules.ts';
import { adoptionInForce } from '../state/adoption.ts';
import { actorOf } from '../state/caller.ts';
import { describeAdopted } from './describe-rules.ts';
import { answerOf, handle, type Handler } from './handler.ts';

export const RUNBOOK_HANDLERS: Readonly<Record<string, Handler>> = {
  runbook_rules: handle(operations.runbookRules, async ({ project }) => {
    const proposed = await project.adoptions?.propose();
    if (proposed?.ok === false) return proposed;
    const settled = await project.keeper.read(({ state }) => adoptionInForce(state) ?? null);
    const working = proposed === undefined ? null : describeAdopted(proposed.proposal);
    return answerOf(settled, (in_force) => ({
      in_force,
      working: working === null ? null : { ...working, loosens: loosens(working.differences) },
    }));
  }),

  runbook_adopt: handle(operations.runbookAdopt, async ({ project, caller, input }) => {
    const adopted = await project.adoptions?.adoptWorking(actorOf(caller), input.accept_rules);
    if (adopted === undefined) return { ok: false, error: NO_RUNBOOKS };
    return adopted.ok ? { ok: true, result: describeAdopted(adopted) } : adopted;
  }),
};

const NO_RUNBOOKS = { code: 'internal', message: 'this project adopts no runbooks', hint: '' } as const;
