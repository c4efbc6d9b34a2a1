import { findClient } from '../../agents/capabilities/clients.ts';
import type { Environment } from '../../protocol/environment.ts';
import { type AgentPlan, type BudgetPlan, UNMETERED_CLIENTS } from '../../protocol/run-plan.ts';
import { sandboxOf } from '../../runbook/access.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import type { Finding } from '../../sandbox/doctor.ts';
import { describeVersion } from '../agents/client-version.ts';
import { findClients, type FoundClient } from '../agents/clients.ts';

/** The clients that agents of the runbook name: whether they are here, in a tested version, and whether budgets bind. */
export async function diagnoseClients(
  runbook: Runbook,
  sandboxes: readonly Finding[],
  env: Environment,
): Promise<readonly Finding[]> {
  const agents = [...runbook.agents.values()];
  const here = agents.filter((agent) => !bringsProgram(runbook, agent, sandboxes));
  const byRun = Map.groupBy(here, ({ run }) => run);
  const named = [...byRun.keys()].flatMap((run) => findClient(run) ?? []);
  const found = await findClients(
    named.filter(({ program }) => program !== null),
    env,
  );
  return [
    ...found.map((client) =>
      describeClient(
        client,
        (byRun.get(client.run) ?? []).map(({ name }) => name),
      ),
    ),
    ...findUncounted(runbook),
  ];
}

/** An image or a PATH of the agent's own has another program, or none, which only its start shows. */
function bringsProgram(runbook: Runbook, agent: AgentPlan, sandboxes: readonly Finding[]): boolean {
  const works = (name: string): boolean => sandboxes.some((each) => each.name === name && each.ok);
  const { mode, image } = sandboxOf(runbook, agent);
  const isContainer =
    mode === 'container' || (mode === 'auto' && image !== undefined && !works('bubblewrap') && works('container'));
  return isContainer || agent.env?.['PATH'] !== undefined;
}

export function describeClient(client: FoundClient, agents: readonly string[]): Finding {
  const { run, title, tested, version, package: npm } = client;
  if (version === null || version.kind !== 'missing') {
    const detail = version === null ? title : `${title}: ${describeVersion(tested, version)}`;
    return { name: run, ok: true, isMinor: true, detail, fix: null };
  }
  const detail = `${client.program} is not on the PATH: ${agents.join(', ')} cannot start`;
  const fix = `Install it: npm install -g ${npm}. A running daemon keeps its PATH until baton down && baton up.`;
  return { name: run, ok: false, isMinor: false, detail, fix };
}

/** Budgets of tokens or cost that do not count an agent. */
export function findUncounted(runbook: Runbook): readonly Finding[] {
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

function uncounted(budget: string, agents: readonly string[]): Finding {
  const detail = `${budget} does not count the tokens and cost of ${agents.join(', ')}: the client reports none`;
  return { name: 'budget', ok: false, isMinor: true, detail, fix: 'Set `timeout` or `budget.time` of the agent.' };
}
