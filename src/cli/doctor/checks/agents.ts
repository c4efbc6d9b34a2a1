import type { FoundClient } from '../../agents/clients.ts';
import { describeVersion } from '../../agents/client-version.ts';
import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';

export interface AgentFacts {
  /** The clients that agents of the runbook run; without a runbook, the installed ones. */
  readonly clients: readonly ClientFacts[];
  readonly hasRunbook: boolean;
  /** Names of variables that agents and checks do not get. */
  readonly dropped: readonly string[];
}

export interface ClientFacts extends Pick<FoundClient, 'run' | 'title' | 'program' | 'package' | 'tested' | 'version'> {
  /** The runbook's agents that run this client. */
  readonly agents: readonly string[];
  /** The file or variable that shows a login; null if none was found, undefined if the client needs none. */
  readonly login: string | null | undefined;
}

export const agentsCheck = defineCheck(
  'agents',
  'The clients that the agents of the runbook run: installed, in which version, and whether a login is there',
  {
    installed: ok('The client is installed; its version and its login. A version that was not tested is no fault'),
    missing: problem('The client of an agent is not installed'),
    'no-login': warning('No login of the client was found; it may have one that Baton does not know'),
    none: warning('There is no runbook, and no client on the `PATH`'),
    variables: ok('Variables of this terminal that agents and checks do not get, by name'),
  },
);

export function diagnoseAgents({ clients, hasRunbook, dropped }: AgentFacts): readonly Diagnosis[] {
  const found = clients.map(diagnoseClient);
  if (clients.length === 0 && !hasRunbook) {
    const fix = 'Install one, such as: npm install -g @anthropic-ai/claude-code. See all clients: baton agent clients';
    found.push(agentsCheck.found('none', { detail: 'no client of an agent is on the PATH', fix }));
  }
  if (!hasRunbook || dropped.length === 0) return found;
  return [...found, agentsCheck.found('variables', { name: 'variables', detail: describeDropped(dropped) })];
}

function diagnoseClient({ run, title, program, package: npm, tested, version, agents, login }: ClientFacts): Diagnosis {
  if (version?.kind === 'missing') {
    const detail = `${program} is not on the PATH: ${agents.join(', ')} cannot start`;
    const fix = `Install it: npm install -g ${npm}. A running daemon keeps its PATH until baton down && baton up.`;
    return agentsCheck.found('missing', { name: run, detail, fix });
  }
  const standing = version === null ? title : `${title}: ${describeVersion(tested, version)}`;
  if (login === null) {
    const detail = `${standing}; no login was found`;
    return agentsCheck.found('no-login', { name: run, detail, fix: `Start it once and log in: ${program}` });
  }
  const detail = login === undefined ? standing : `${standing}; login: ${login}`;
  return agentsCheck.found('installed', { name: run, detail });
}

function describeDropped(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).join(', ');
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `agents and checks do not get ${shown}${more}; env_pass in the runbook adds a variable`;
}

const MOST_NAMES = 12;
