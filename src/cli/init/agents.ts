import { listClients } from '../../agents/capabilities/clients.ts';
import type { Environment } from '../../protocol/environment.ts';
import { findClients, type FoundClient } from '../agents/clients.ts';
import { findLogin } from '../agents/find-login.ts';

/** An agent for the roles of the workflow. */
export interface AgentChoice {
  /** The value of `run` in a runbook. */
  readonly run: string;
  readonly title: string;
  /** The unit in which its budgets can be counted. */
  readonly budget: 'cost' | 'tokens' | 'time';
}

/** A client on this machine. */
export interface InstalledAgent extends AgentChoice {
  readonly program: string;
  /** Null if the program does not report one. */
  readonly version: string | null;
  /** The file or variable that shows a login; null if none was found. */
  readonly login: string | null;
}

/** Plays the roles from files that come with Baton, without a model. */
export const SCRIPTED: AgentChoice = { run: 'scripted', title: 'scripted agents', budget: 'cost' };

/** The clients on the PATH, those with a login first. Runs only `PROGRAM --version`. */
export async function findInstalledAgents(env: Environment, top: string): Promise<readonly InstalledAgent[]> {
  const programs = new Set<string>();
  const clients = listClients().filter(({ program }) => {
    // Gemini CLI is listed as two clients. The one with its own adapter comes first and is better.
    const isNew = program !== null && !programs.has(program);
    if (isNew) programs.add(program);
    return isNew;
  });
  const found = await findClients(clients, env);
  const installed = found.filter(({ version }) => version !== null && version.kind !== 'missing');
  return sortByLogin(installed.map((client) => describe(client, findLogin(client.run, env, top))));
}

function describe(client: FoundClient, login: string | null): InstalledAgent {
  const { run, title, program, version } = client;
  const number = version?.kind === 'found' ? version.version : null;
  return { ...choiceOf(client), run, title, program: program ?? run, version: number, login };
}

/** Finds the client of this name, installed or not; undefined if Baton does not know it. */
export function findChoice(run: string): AgentChoice | undefined {
  if (run === SCRIPTED.run) return SCRIPTED;
  const client = listClients().find((each) => each.run === run && each.program !== null);
  return client === undefined ? undefined : choiceOf(client);
}

function choiceOf({ run, title, capabilities }: Pick<FoundClient, 'run' | 'title' | 'capabilities'>): AgentChoice {
  const { usage, cost } = capabilities;
  return { run, title, budget: usage === 'none' ? 'time' : cost === 'reported' ? 'cost' : 'tokens' };
}

export function sortByLogin(agents: readonly InstalledAgent[]): readonly InstalledAgent[] {
  return agents.toSorted((a, b) => Number(a.login === null) - Number(b.login === null));
}
