import type { AgentPlan, PipelinePlan } from '../../protocol/run-plan.ts';
import { withLibrary } from '../library.ts';
import type { Runbook, WorkerDefinition } from '../runbook.ts';

/** Everything that workers can start on a task by themselves, and which of it can decide whether work is good. */
export interface WorkerReach {
  readonly agents: ReadonlyMap<string, AgentPlan>;
  readonly pipelines: ReadonlyMap<string, PipelinePlan>;
  /** Names of the agents and pipelines that can be given a judging role. */
  readonly judging: ReadonlySet<string>;
}

/** The roles that make or close work. Every other role, also one that a runbook adds, judges it. */
const WORKING_ROLES: ReadonlySet<string> = new Set(['issue-manager', 'prep', 'implementer', 'fixer', 'closer']);

export function isJudgingRole(role: string): boolean {
  return !WORKING_ROLES.has(role);
}

export function findWorkerReach(runbook: Runbook): WorkerReach {
  const all = withLibrary(runbook);
  const agents = new Map<string, AgentPlan>();
  const pipelines = new Map<string, PipelinePlan>();
  const judging = new Set<string>();
  for (const worker of all.workers.values()) {
    const mayJudge = worker.roles === undefined ? worker.workflow !== false : worker.roles.some(isJudgingRole);
    for (const { kind, name } of reachOf(all, worker)) {
      const agent = kind === 'agent' ? all.agents.get(name) : undefined;
      const pipeline = kind === 'pipeline' ? all.pipelines.get(name) : undefined;
      if (agent !== undefined) agents.set(name, agent);
      if (pipeline !== undefined) pipelines.set(name, pipeline);
      if (mayJudge && (agent?.role === undefined || isJudgingRole(agent.role))) judging.add(`${kind} ${name}`);
    }
  }
  return { agents, pipelines, judging };
}

interface Named {
  readonly kind: 'agent' | 'pipeline';
  readonly name: string;
}

function reachOf({ pipelines }: Runbook, { run }: WorkerDefinition): readonly Named[] {
  if (run.kind === 'shell') return [];
  if (run.kind === 'agent') return [{ kind: 'agent', name: run.agent }];
  const found = new Map<string, Named>();
  const next = [run.pipeline];
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    if (found.has(`pipeline ${name}`)) continue;
    found.set(`pipeline ${name}`, { kind: 'pipeline', name });
    for (const step of pipelines.get(name)?.steps ?? []) {
      if (step.run.kind === 'agent') found.set(`agent ${step.run.agent}`, { kind: 'agent', name: step.run.agent });
      if (step.run.kind === 'pipeline') next.push(step.run.pipeline);
    }
  }
  return [...found.values()];
}
