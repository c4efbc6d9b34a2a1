import { agentPrincipal, isOperator, type Principal } from '../caller.ts';
import type { Event, EventOf } from '../event.ts';
import { JUDGED_PHASES, type Task } from '../tasks/task.ts';

type Before = Pick<Task, 'claim' | 'lapsed' | 'phase' | 'endings' | 'flow'>;

/**
 * The authors after an entry: principals that claimed the task to implement or fix it, committed, moved its branch, or
 * recorded a commit not under review.
 */
export function authorsAfter(
  authors: readonly Principal[],
  recorded: Event & { readonly actor?: string },
  before: Before,
): readonly Principal[] {
  const added = [...new Set(findAuthors(recorded, before))].filter((each) => each !== '' && !authors.includes(each));
  return added.length === 0 ? authors : [...authors, ...added].slice(-KEPT_AUTHORS);
}

function findAuthors(recorded: Event & { readonly actor?: string }, before: Before): readonly Principal[] {
  switch (recorded.type) {
    case 'TaskClaimed': {
      const { role, principal } = recorded.data;
      return before.phase === 'IMPLEMENTATION' || isAuthorRole(role) ? [principal] : [];
    }
    case 'AgentRequested':
      // A pipeline's steps work under the worker's claim, each as its own agent definition.
      return recorded.data.owner !== null && before.phase === 'IMPLEMENTATION'
        ? [agentPrincipal(recorded.data.plan.name)]
        : [];
    case 'SessionMeasured':
      return recorded.data.commits > 0 ? principalOfSession(recorded.data.session_id, before) : [];
    case 'BranchMoved':
      return recorded.data.sources;
    case 'ThoughtRecorded':
      return namesNewCommit(recorded.data, before) ? recordersOf(recorded.data, recorded.actor, before) : [];
    default:
      return [];
  }
}

/** Reports whether a role commits; the same in every runbook. */
export function isAuthorRole(role: string | null): boolean {
  return role === 'implementer' || role === 'fixer';
}

function principalOfSession(sessionId: string, { claim, endings }: Before): readonly Principal[] {
  const held = claim?.sessionId === sessionId ? claim : endings.findLast((ending) => ending.sessionId === sessionId);
  return held === undefined ? [] : [held.principal];
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

/** The holder of the record's claim, and the operator who made the record, also for another's claim. */
function recordersOf(
  { epoch }: EventOf<'ThoughtRecorded'>['data'],
  actor: string | undefined,
  { claim, lapsed }: Before,
): readonly Principal[] {
  const holder = claim ?? lapsed?.claim;
  const held = holder?.epoch === epoch && holder !== undefined ? [holder.principal] : [];
  return actor !== undefined && isOperator(actor) ? [...held, actor] : held;
}

const KEPT_AUTHORS = 50;
