import type { Caller } from './caller.ts';

/**
 * Who answers for a piece of work: `operator:NAME`, `worker:NAME` (the name that an operator issued the worker token to) or `agent:NAME`
 * (an agent definition of the runbook). The name that a claim shows (`--as`) is a label and plays no part: the caller chooses it.
 */
export type Principal = string;

export function principalOf({ sessions }: SessionLookup, caller: Caller): Principal {
  switch (caller.kind) {
    case 'operator':
    case 'worker':
    case 'system':
      return `${caller.kind}:${caller.name}`;
    case 'session':
      return sessions.get(caller.sessionId)?.principal ?? `session:${caller.sessionId}`;
    case 'agent':
    case 'supervisor':
      return `session:${caller.agentId}`;
  }
}

interface SessionLookup {
  readonly sessions: ReadonlyMap<string, { readonly principal: Principal }>;
}

/** Whether a principal is among others. One that an old entry names has no kind, and stands for every principal of that name. */
export function includesPrincipal(principals: readonly Principal[], principal: Principal): boolean {
  return principals.includes(principal) || principals.includes(principal.slice(principal.indexOf(':') + 1));
}

/** An agent definition is the same principal in every run, and whichever worker starts it. */
export function agentPrincipal(name: string): Principal {
  return `agent:${name}`;
}

export function isOperator(principal: Principal): boolean {
  return principal.startsWith('operator:');
}
