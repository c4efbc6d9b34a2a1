import { refusal, type Refusal } from './outcome.ts';
import type { Claim, Task } from './tasks/task.ts';

/** The sender of a command, as its token proves. A caller cannot choose its own name. */
export type Caller =
  | {
      readonly kind: 'operator';
      readonly name: string;
      /**
       * The key of the page or editor that sends the command for the operator. Only the entry's actor names it; rules
       * see only the operator.
       */
      readonly via?: string;
    }
  | { readonly kind: 'worker'; readonly name: string }
  | {
      readonly kind: 'session';
      readonly sessionId: string;
      readonly taskId: string;
      readonly epoch: number;
      /** The time at which the message was put into the outbox, if it waited there. */
      readonly keptAt?: string;
      /** The agent whose supervisor found the call in the output of the agent's client. */
      readonly matched?: string;
    }
  /** A run of an agent without a claim. */
  | { readonly kind: 'agent'; readonly agentId: string }
  /** The supervisor of an agent, or of a command; then `agentId` is the id of the command. */
  | { readonly kind: 'supervisor'; readonly agentId: string }
  | {
      readonly kind: 'system';
      readonly name: string;
      /** The term under which the caretaker acted; absent if the caretaker does not report the outcome. */
      readonly term?: number;
    };

/** The actor that the ledger records. A worker is recorded as an operator until a claim makes it a session. */
export function actorOf(caller: Caller): string {
  if (caller.kind === 'session') return `session:${caller.sessionId}`;
  if (caller.kind === 'agent') return `session:${caller.agentId}`;
  if (caller.kind === 'supervisor') return 'system:supervisor';
  if (caller.kind === 'operator' && caller.via !== undefined) return joinActor(`operator:${caller.name}`, caller.via);
  return `${caller.kind === 'system' ? 'system' : 'operator'}:${caller.name}`;
}

/** The slash is unambiguous, because no operator's name contains one. */
export function joinActor(actor: string, via: string | undefined): string {
  return via === undefined ? actor : `${actor}/${via}`;
}

/**
 * Splits the actor of an entry into the operator and the key of a page or editor. Rules must see only the operator: an
 * author must not approve their own work through the page.
 */
export function splitActor(actor: string): { readonly actor: string; readonly via?: string } {
  if (!actor.startsWith('operator:') || !actor.includes('/')) return { actor };
  const [, person, via] = /^(.+)\/((?:page|acp-[a-z0-9-]{1,32})-[1-9]\d*-[0-9a-f]{8})$/.exec(actor) ?? [];
  return person === undefined || via === undefined ? { actor } : { actor: person, via };
}

type ClaimCheck = { readonly ok: true; readonly claim: Claim } | { readonly ok: false; readonly refusal: Refusal };

/** Returns the live claim of a session, or the reason why it has none. Every write of a session passes this check. */
export function checkClaim(task: Task, caller: Caller & { kind: 'session' }): ClaimCheck {
  if (caller.taskId !== task.id) {
    return refusal(
      'wrong-task',
      `this session works on ${caller.taskId}, not on ${task.id}`,
      'Name the task that you claimed.',
    );
  }
  if (caller.epoch < task.epoch) {
    const hint = 'Another session has claimed the task since. Stop, and keep your work on your branch.';
    return refuseStaleClaim(caller.epoch, task.epoch, hint);
  }
  const { claim } = task;
  if (claim !== null && claim.sessionId === caller.sessionId) return { ok: true, claim };
  const how = task.endings.at(-1)?.how ?? 'released';
  const hint =
    task.phase === 'COMPLETED' || task.phase === 'BLOCKED'
      ? `See the task: baton task show ${task.id}`
      : `Claim the task again: baton task claim ${task.id} --as NAME`;
  return refusal('claim-ended', `the claim on ${task.id} has ended: ${how}`, hint);
}

export function refuseStaleClaim(epoch: number, newest: number, hint: string): ReturnType<typeof refusal> {
  return refusal('stale-claim', `stale claim: epoch ${epoch} < ${newest}`, hint);
}

/**
 * The name responsible for a piece of work: `operator:NAME`, `worker:NAME` (of the worker token) or `agent:NAME` (an
 * agent definition of the runbook). The label of a claim (`--as`) does not count, because the caller chooses it.
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

/** A principal from an old entry has no kind, and matches every principal of that name. */
export function includesPrincipal(principals: readonly Principal[], principal: Principal): boolean {
  return principals.includes(principal) || principals.includes(principal.slice(principal.indexOf(':') + 1));
}

/** The principal of an agent definition, which is the same in every run, whichever worker starts it. */
export function agentPrincipal(name: string): Principal {
  return `agent:${name}`;
}

export function isOperator(principal: Principal): boolean {
  return principal.startsWith('operator:');
}
