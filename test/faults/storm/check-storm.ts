import type { Entry } from '../../../src/ledger/format/entry.ts';
import { textOf } from '../../processes/ledger.ts';

export interface StormFacts {
  readonly entries: readonly Entry[];
  /** The agents' own notes. */
  readonly notes: readonly string[];
}

export interface StormFindings {
  readonly lost: readonly string[];
  readonly startedTwice: readonly string[];
  readonly falseDead: readonly string[];
}

/** Compares the agents' notes with the ledger. Every agent signals before it exits, so none may count as dead. */
export function checkStorm({ entries, notes }: StormFacts): StormFindings {
  const of = (type: string): Entry[] => entries.filter((entry) => entry.type === type);
  const agentsIn = (type: string): string[] => of(type).map(({ data }) => textOf(data, 'agent_id'));
  const noted = (what: string): string[] =>
    notes.flatMap((line) => (line.startsWith(`${what} `) ? [line.slice(what.length + 1)] : []));
  // Under a claim the signal ends the session, which has the agent's id.
  const completed = of('ClaimCompleted').map(({ data }) => textOf(data, 'session_id'));
  const signalled = Map.groupBy([...agentsIn('AgentSignalled'), ...completed], (id) => id);
  const acknowledged = [...noted('acknowledged'), ...noted('kept')];
  const lost = acknowledged.filter((id) => signalled.get(id)?.length !== 1);
  const isAcknowledged = new Set(acknowledged);
  const dead = of('HandlerTried').filter(({ data }) => textOf(data, 'handler') === 'on_dead');
  const failed = of('AgentEnded').filter(({ data }) => textOf(data, 'outcome') !== 'done');
  return {
    lost: lost.map((id) => `${id}: recorded ${signalled.get(id)?.length ?? 0} times`),
    startedTwice: [
      ...claimedAgain(of('TaskClaimed'), isAcknowledged),
      ...twice(noted('started')).map((id) => `${id}: two processes`),
      ...of('AgentStarted')
        .filter(({ data }) => textOf(data, 'start') !== '1')
        .map(({ data }) => `${textOf(data, 'agent_id')}: start ${textOf(data, 'start')}`),
    ],
    falseDead: [
      ...dead.map(({ data }) => `${textOf(data, 'agent_id')}: on_dead`),
      ...failed.flatMap(({ data }) => {
        const id = textOf(data, 'agent_id');
        return isAcknowledged.has(id) ? [`${id}: ${textOf(data, 'outcome')}, ${textOf(data, 'reason')}`] : [];
      }),
    ],
  };
}

/** Finds tasks that were claimed again after their session had signalled; every session is an agent here. */
function claimedAgain(claims: readonly Entry[], isAcknowledged: ReadonlySet<string>): string[] {
  const before = new Map<string, string>();
  return claims.flatMap(({ data }) => {
    const [task, session] = [textOf(data, 'task_id'), textOf(data, 'session_id')];
    const last = before.get(task);
    before.set(task, session);
    return last !== undefined && isAcknowledged.has(last) ? [`${task}: claimed again after ${last}`] : [];
  });
}

function twice(ids: readonly string[]): string[] {
  return [...Map.groupBy(ids, (id) => id)].flatMap(([id, all]) => (all.length > 1 ? [id] : []));
}
