import { agentPrincipal, isOperator, type Principal } from '../caller.ts';
import type { Event, EventOf } from '../event.ts';
import { JUDGED_PHASES, type Task } from '../tasks/task.ts';

type Before = Pick<Task, 'claim' | 'lapsed' | 'phase' | 'endings' | 'flow'>;

/**
 * The authors after an entry: principals that claimed the task to implement or fix it, committed, or recorded a commit
 * not under review.
 */
export function authorsAfter(
  authors: readonly Principal[],
  recorded: Event & { readonly actor?: string },
  before: Before,
): readonly Principal[] {
  const author = findAuthor(recorded, before);
  if (author === undefined || author === '' || authors.includes(author)) return authors;
  return [...authors, author].slice(-KEPT_AUTHORS);
}

function findAuthor(recorded: Event & { readonly actor?: string }, before: Before): Principal | undefined {
  switch (recorded.type) {
    case 'TaskClaimed': {
      const { role, principal } = recorded.data;
      return before.phase === 'IMPLEMENTATION' || isAuthorRole(role) ? principal : undefined;
    }
    case 'AgentRequested':
      // A pipeline's steps work under the worker's claim, each as its own agent definition.
      return recorded.data.owner !== null && before.phase === 'IMPLEMENTATION'
        ? agentPrincipal(recorded.data.plan.name)
        : undefined;
    case 'SessionMeasured':
      return recorded.data.commits > 0 ? principalOfSession(recorded.data.session_id, before) : undefined;
    case 'ThoughtRecorded':
      return namesNewCommit(recorded.data, before) ? recorderOf(recorded.data, recorded.actor, before) : undefined;
    default:
      return undefined;
  }
}

/** Reports whether a role commits; the same in every runbook. */
export function isAuthorRole(role: string | null): boolean {
  return role === 'implementer' || role === 'fixer';
}

function principalOfSession(sessionId: string, { claim, endings }: Before): Principal | undefined {
  if (claim?.sessionId === sessionId) return claim.principal;
  return endings.findLast((ending) => ending.sessionId === sessionId)?.principal;
}

/**
 * Reports whether a record names new work. A reviewer's record of the commit under review does not; if no commit is
 * known, the merge asks who chose it (see `merge.ts`). A record that reinstates describes undone work.
 */
function namesNewCommit({ record }: EventOf<'ThoughtRecorded'>['data'], { flow, phase }: Before): boolean {
  if (record.status === 'todo' || phase === 'COMPLETED') return false;
  if (flow.head === null && JUDGED_PHASES.has(phase)) return false;
  return record.commit_sha.toLowerCase() !== flow.head;
}

/** The holder of the record's claim, or the operator who made the record. */
function recorderOf(
  { epoch }: EventOf<'ThoughtRecorded'>['data'],
  actor: string | undefined,
  { claim, lapsed }: Before,
): Principal | undefined {
  const holder = claim ?? lapsed?.claim;
  if (holder?.epoch === epoch) return holder?.principal;
  return actor !== undefined && isOperator(actor) ? actor : undefined;
}

const KEPT_AUTHORS = 50;
