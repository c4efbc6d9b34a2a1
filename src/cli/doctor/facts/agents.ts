import { type Client, findClient, listClients } from '../../../agents/capabilities/clients.ts';
import { clientVariables, findAdapter } from '../../../agents/prepare-agent.ts';
import { allowedEnvironment, type Environment, isBatonVariable } from '../../../protocol/environment.ts';
import type { AgentPlan } from '../../../protocol/run-plan.ts';
import { sandboxOf } from '../../../runbook/access.ts';
import type { Runbook } from '../../../runbook/runbook.ts';
import type { SandboxSurvey } from '../../../sandbox/survey.ts';
import { findClients } from '../../agents/clients.ts';
import { findLogin } from '../../agents/find-login.ts';
import type { AgentFacts, ClientFacts } from '../checks/agents.ts';
import type { Place } from '../place.ts';

export async function readAgentFacts(place: Place, survey: SandboxSurvey): Promise<AgentFacts> {
  const { runbook, env, folder } = place;
  if (runbook === undefined) return { clients: await readInstalled(env, folder), hasRunbook: false, dropped: [] };
  const agents = [...runbook.agents.values()].filter((agent) => !bringsProgram(runbook, agent, survey));
  const byRun = Map.groupBy(agents, ({ run }) => run);
  const named = [...byRun.keys()].flatMap((run) => findClient(run) ?? []).filter(({ program }) => program !== null);
  const found = await findClients(named, env);
  const clients = found.map((client): ClientFacts => {
    const users = byRun.get(client.run) ?? [];
    const given: Environment = Object.assign({}, env, ...users.map((agent) => agent.env ?? {}));
    return { ...client, agents: users.map(({ name }) => name), login: loginOf(client, given, folder) };
  });
  return { clients, hasRunbook: true, dropped: findDropped(runbook, env) };
}

/** The clients on the PATH, each program once. */
async function readInstalled(env: Environment, folder: string): Promise<readonly ClientFacts[]> {
  const programs = new Map(listClients().flatMap((each) => (each.program === null ? [] : [[each.program, each]])));
  const first = listClients().filter((each) => each.program !== null && programs.get(each.program)?.run === each.run);
  const found = await findClients(first, env);
  return found
    .filter(({ version }) => version !== null && version.kind !== 'missing')
    .map((client) => ({ ...client, agents: [], login: loginOf(client, env, folder) }));
}

/** Undefined if Baton does not know where the client keeps its login. */
function loginOf({ run }: Client, env: Environment, folder: string): string | null | undefined {
  const adapter = findAdapter(run);
  const knows = adapter?.variables !== undefined || adapter?.clientFiles !== undefined;
  return knows ? findLogin(run, env, folder) : undefined;
}

/** Whether the agent's image or its own PATH determines the program. Only a start then shows whether it exists. */
function bringsProgram(runbook: Runbook, agent: AgentPlan, { bubblewrap, container }: SandboxSurvey): boolean {
  const { mode, image } = sandboxOf(runbook, agent);
  const isContainer =
    mode === 'container' || (mode === 'auto' && image !== undefined && !bubblewrap.works && container.works);
  return isContainer || agent.env?.['PATH'] !== undefined;
}

/** Finds variables that no agent of the runbook gets. A client's own variables reach only its agents. */
function findDropped(runbook: Runbook, env: Environment): readonly string[] {
  const agents = [...runbook.agents.values()];
  const passed = agents.flatMap((agent) => [...(agent.env_pass ?? []), ...clientVariables(agent, env, undefined)]);
  const { dropped } = allowedEnvironment(env, [...runbook.envPass, ...passed]);
  return dropped.filter((name) => !isBatonVariable(name));
}
