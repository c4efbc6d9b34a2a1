import type { Plan } from '../../protocol/run-plan.ts';
import { utf8Length } from '../../protocol/text/utf8.ts';
import { RUNBOOK_LIMITS } from '../shape/limits.ts';
import { pipelinePlan, plainPlan, PROMPTS_IN_FILES, sizeProblem, workerPlans } from '../plan.ts';
import type { Runbook } from '../runbook.ts';
import type { Path, RunbookSubject } from './subject.ts';

/** Whatever can be started fits an entry of the ledger. Values of variables come on top, and are looked at when it is started. */
export function checkPlans(runbook: Runbook, subject: RunbookSubject): void {
  const check = (plan: Plan, path: Path, name: string): void => {
    const found = sizeProblem(plan, {}, name);
    if (found === undefined) return;
    subject.report(found.code, path, found.message, found.hint, subject.placeOfName(path));
  };
  for (const [name, agent] of runbook.agents) check({ kind: 'agent', agent }, ['agents', name], name);
  for (const name of runbook.pipelines.keys()) check(pipelinePlan(runbook, name), ['pipelines', name], name);
  for (const [name, { run }] of runbook.commands) {
    if (run.kind === 'shell') check(plainPlan(runbook, run), ['commands', name], name);
  }
  // All workers are recorded in one entry.
  const bytes = utf8Length(JSON.stringify(workerPlans(runbook)));
  if (bytes > RUNBOOK_LIMITS.planBytes) {
    const message = `the plans of all workers are too large to be recorded: ${bytes} bytes > ${RUNBOOK_LIMITS.planBytes} bytes maximum`;
    subject.report('runbook/plan-too-large', ['workers'], message, PROMPTS_IN_FILES, subject.placeOfName(['workers']));
  }
}
