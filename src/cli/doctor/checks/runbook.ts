import { findClient } from '../../../agents/capabilities/clients.ts';
import { type BudgetPlan, UNMETERED_CLIENTS } from '../../../protocol/run-plan.ts';
import { sandboxOf } from '../../../runbook/access.ts';
import { withLibrary } from '../../../runbook/library.ts';
import type { Runbook, RunbookProblem } from '../../../runbook/runbook.ts';
import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';

export interface RunbookFacts {
  readonly isInRepository: boolean;
  /** The runbook's files, from the top of the repository. */
  readonly files: readonly string[];
  /** Undefined if there is no runbook, or it has errors. */
  readonly runbook: Runbook | undefined;
  readonly problems: readonly RunbookProblem[];
  /** Why a daemon could not use the names of project and store; null if it could. */
  readonly identityProblem: { readonly message: string; readonly hint: string } | null;
  /** Sandbox modes that do not work on this machine. */
  readonly failingSandboxes: readonly string[];
}

export const runbookCheck = defineCheck('runbook', 'Whether it is valid, and fits this machine', {
  valid: ok('The runbook is valid'),
  missing: warning('The repository has no runbook'),
  'wide-network': ok('The network of agents may be `full`; `dev` is recommended'),
  invalid: problem('The runbook has errors; the first one is named'),
  'wrong-identity': problem('The runbook names another project or store than the ledger of this repository'),
  'sandbox-fails': problem('It names a sandbox that does not work here, so that the agents with it are not started'),
  'budget-without-usage': warning('A budget of tokens or cost does not count an agent, whose client reports no usage'),
});

export function diagnoseRunbook(facts: RunbookFacts): readonly Diagnosis[] {
  const { isInRepository, files, runbook, problems, identityProblem } = facts;
  if (!isInRepository) return [];
  const found: Diagnosis[] = [];
  if (identityProblem !== null) {
    const { message: detail, hint: fix } = identityProblem;
    found.push(runbookCheck.found('wrong-identity', { detail, fix }));
  }
  const [first, ...more] = problems;
  if (first !== undefined) {
    const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
    const isUnread = first.code === 'unreadable-file';
    const detail = `${isUnread ? '' : `${first.file ?? 'the runbook'}: `}${first.message}${others}`;
    const fix = isUnread ? first.hint : 'See: baton runbook check';
    return [...found, runbookCheck.found('invalid', { detail, fix })];
  }
  if (runbook === undefined) {
    const detail = 'no baton.toml, and no file in .baton/runbooks';
    return [...found, runbookCheck.found('missing', { detail, fix: 'Write one: baton init' })];
  }
  found.push(...findFailingSandboxes(runbook, facts.failingSandboxes), ...findUncounted(runbook));
  if (found.length > 0) return found;
  const count = runbook.agents.size;
  const detail = `${files.join(', ')}: valid, ${count === 1 ? '1 agent' : `${count} agents`}`;
  return [runbookCheck.found('valid', { detail }), ...recommendNetwork(runbook)];
}

/** Rules that were adopted before there was `dev` keep `full`, which the file alone does not show. */
function recommendNetwork({ network, sandbox }: Runbook): readonly Diagnosis[] {
  const { policy } = network;
  if ((policy !== undefined && policy !== 'full') || sandbox.mode === 'none') return [];
  const named =
    policy === 'full' ? 'agents reach every host' : 'it names none, and rules of an earlier Baton keep "full"';
  return [runbookCheck.found('wide-network', { name: 'network', detail: `${named}; recommended: network = "dev"` })];
}

/** Finds sandbox modes that the runbook names but that do not work here. Their agents cannot start. */
export function findFailingSandboxes(runbook: Runbook, failing: readonly string[]): readonly Diagnosis[] {
  const wanted = [...withLibrary(runbook).agents.values()].map((agent) => ({
    agent: agent.name,
    mode: sandboxOf(runbook, agent).mode,
  }));
  const byMode = Map.groupBy(wanted, ({ mode }) => mode);
  return [...byMode].flatMap(([mode, agents]) => {
    if (mode === 'auto' || !failing.includes(mode)) return [];
    const names = agents.map(({ agent }) => agent).join(', ');
    const detail = `the runbook asks for ${mode}, which does not work here, so these agents cannot start: ${names}`;
    const fix = `See ${mode} below, or set sandbox = "auto".`;
    return [runbookCheck.found('sandbox-fails', { detail, fix })];
  });
}

/** Finds budgets of tokens or cost that do not count an agent. */
export function findUncounted(runbook: Runbook): readonly Diagnosis[] {
  const agents = [...runbook.agents.values()];
  const own = agents.filter(({ run, budget }) => hasUse(budget) && findClient(run)?.capabilities.usage === 'none');
  const unmetered = agents.filter(({ run }) => UNMETERED_CLIENTS.includes(run)).map(({ name }) => name);
  const { taskBudget, dayBudget } = runbook.limits;
  const shared = Object.entries({ task_budget: taskBudget, day_budget: dayBudget });
  return [
    ...own.map(({ name }) => uncounted(`agents.${name}.budget`, [name])),
    ...shared.flatMap(([name, budget]) =>
      unmetered.length > 0 && hasUse(budget) ? [uncounted(`limits.${name}`, unmetered)] : [],
    ),
  ];
}

function hasUse(budget: BudgetPlan | undefined): boolean {
  return budget?.tokens !== undefined || budget?.cost_millicents !== undefined;
}

function uncounted(budget: string, agents: readonly string[]): Diagnosis {
  const detail = `${budget} does not count the tokens and cost of ${agents.join(', ')}: the client reports none`;
  return runbookCheck.found('budget-without-usage', { detail, fix: 'Set `timeout` or `budget.time` of the agent.' });
}
