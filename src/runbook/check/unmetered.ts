import { UNMETERED_CLIENTS } from '../../protocol/run-plan.ts';
import { inheritedFields } from '../build/build-agent.ts';
import type { RunbookSubject } from './subject.ts';

/**
 * Reports a budget of tokens or cost for a client that reports no usage, because it has no effect. Commands are
 * skipped: their reports are unknown before they run.
 */
export function checkUnmetered(subject: RunbookSubject): void {
  for (const [name, { run: own, budget = {} }] of Object.entries(subject.value.agents ?? {})) {
    const run = own ?? inheritedFields(name, {}).run ?? '';
    if (!UNMETERED_CLIENTS.includes(run)) continue;
    for (const limit of ['tokens', 'cost'] as const) {
      if (budget[limit] === undefined) continue;
      const message = `agent ${name} runs ${run}, which reports no usage: a budget of ${limit} limits nothing`;
      const hint = 'Remove this budget, and set `timeout` or `budget.time`.';
      subject.reportName('runbook/unmetered-budget', ['agents', name, 'budget', limit], message, hint);
    }
  }
}
