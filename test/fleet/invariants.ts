import type { Entry } from '../../src/ledger/format/entry.ts';
import { findImpossible } from '../faults/daemon-kill.ts';
import { textOf } from '../processes/ledger.ts';

/**
 * Finds violations of the ledger's invariants, which hold whatever happens to its hosts. `ran`: the agents that left a
 * mark at their start.
 */
export function findBroken(entries: readonly Entry[], ran: readonly string[] = []): string[] {
  return [...findImpossible(entries), ...findStartedTwice(entries), ...findRunTwice(entries, ran)];
}

function findStartedTwice(entries: readonly Entry[]): string[] {
  const starts = entries
    .filter(({ type }) => type === 'AgentStarted')
    .map(({ data }) => `${textOf(data, 'agent_id')} ${textOf(data, 'start')}`);
  return duplicatesOf(starts).map((start) => `the agent ${start} was recorded as started twice`);
}

/** An agent may run again only if its start was recorded again, and only recorded agents may run. */
function findRunTwice(entries: readonly Entry[], ran: readonly string[]): string[] {
  const agentsIn = (kind: string): string[] =>
    entries.flatMap(({ type, data }) => (type === kind ? [textOf(data, 'agent_id')] : []));
  const requested = new Set(agentsIn('AgentRequested'));
  const started = agentsIn('AgentStarted');
  return [...new Set(ran)].flatMap((agent) => {
    if (!requested.has(agent)) return [`nobody asked for the agent ${agent}`];
    const [runs, recorded] = [ran, started].map((agents) => agents.filter((each) => each === agent).length);
    return (runs ?? 0) <= Math.max(1, recorded ?? 0) ? [] : [`the agent ${agent} ran ${runs} times`];
  });
}

export function duplicatesOf(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.has(value) || void seen.add(value));
}
