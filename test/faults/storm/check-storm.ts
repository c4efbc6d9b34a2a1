import type { Entry } from '../../../src/ledger/entry.ts';
import { textOf } from '../../processes/ledger.ts';

export interface StormFacts {
  readonly entries: readonly Entry[];
  /** What the agents noted themselves. */
  readonly notes: readonly string[];
}

export interface StormFindings {
  readonly lost: readonly string[];
  readonly startedTwice: readonly string[];
  readonly falseDead: readonly string[];
}

/** Compares what the agents know with what the ledger says. Every agent here signals before it ends, so that none may count as dead. */
export function checkStorm({ entries, notes }: StormFacts): StormFindings {
  const of = (type: string): Entry[] => entries.filter((entry) => entry.type === type);
  const agentsIn = (type: string): string[] => of(type).map(({ data }) => textOf(data, 'agent_id'));
  const noted = (what: string): string[] =>
    notes.flatMap((line) => (line.startsWith(`${what} `) ? [line.slice(what.length + 1)] : []));
  const signalled = new Map(Map.groupBy(agentsIn('AgentSignalled'), (id) => id));
  const acknowledged = [...noted('acknowledged'), ...noted('kept')];
  const lost = acknowledged.filter((id) => signalled.get(id)?.length !== 1);
  const isAcknowledged = new Set(acknowledged);
  const dead = of('HandlerTried').filter(({ data }) => textOf(data, 'handler') === 'on_dead');
  const failed = of('AgentEnded').filter(({ data }) => textOf(data, 'outcome') !== 'done');
  return {
    lost: lost.map((id) => `${id}: recorded ${signalled.get(id)?.length ?? 0} times`),
    startedTwice: [
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

function twice(ids: readonly string[]): string[] {
  return [...Map.groupBy(ids, (id) => id)].flatMap(([id, all]) => (all.length > 1 ? [id] : []));
}
