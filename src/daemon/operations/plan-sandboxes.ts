import type { IssuePlan, RunPreview } from '../../api/operations/runs.ts';
import type { AgentPlan, Plan } from '../../protocol/run-plan.ts';
import { type AdviseSandbox, renderSandbox } from '../../protocol/sandbox.ts';
import { networkOf, renderPolicy, sandboxOf } from '../../runbook/access.ts';
import { withLibrary } from '../../runbook/library.ts';
import type { Runbook } from '../../runbook/runbook.ts';

/** Returns the sandbox and the network that each agent of a plan would have on this machine. */
export async function planSandboxes(
  runbook: Runbook,
  plan: Plan | IssuePlan,
  advise: AdviseSandbox,
): Promise<RunPreview['sandboxes']> {
  return Promise.all(
    agentsOf(runbook, plan).map(async (agent) => {
      const { mode } = sandboxOf(runbook, agent);
      const { kind, notes } = await advise(mode);
      const { policy } = networkOf(runbook, agent);
      const summary = kind === null ? `${mode} does not work here` : renderSandbox(kind, renderPolicy(policy));
      return { agent: agent.name, summary, notes };
    }),
  );
}

function agentsOf(runbook: Runbook, plan: Plan | IssuePlan): readonly AgentPlan[] {
  if (plan.kind === 'agent') return [plan.agent];
  if (plan.kind === 'pipeline') return Object.values(plan.agents);
  if (plan.kind === 'shell') return [];
  const { agents } = withLibrary(runbook);
  return [...new Set(plan.roles.map(({ agent }) => agent))].flatMap((name) => agents.get(name) ?? []);
}
