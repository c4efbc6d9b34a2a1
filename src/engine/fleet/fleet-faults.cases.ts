import type { RecordedEvent } from '../../state/event.ts';
import { findFleet, findHost, hostOf } from '../../state/fleet/fleet.ts';
import { effectOwner, isMine } from '../../state/fleet/owner.ts';
import type { State } from '../../state/state.ts';

/**
 * Describes a fault that no state of a fleet may have after the commit with these entries; undefined if there is none.
 */
export function findFleetFault(state: State, added: readonly RecordedEvent[], by: string): string | undefined {
  return (
    findInReports(state, added, by) ??
    findInBeginnings(state, added) ??
    findInRuns(state) ??
    findInEffects(state) ??
    findInRoom(state, added)
  );
}

/** Checks that only a run's host reports the start or end of its process, unless that host was removed. */
function findInReports(state: State, added: readonly RecordedEvent[], by: string): string | undefined {
  if (added.some(({ type }) => type === 'HostRemoved')) return undefined;
  for (const { type, data, seq } of added) {
    if (type !== 'AgentStarted' && type !== 'AgentExited' && type !== 'AgentStartFailed') continue;
    const host = hostOf(state.agents.get(data.agent_id), state);
    if (host !== by) return `${seq}: ${type} of a run on ${host ?? 'no host'}, by ${by}`;
  }
  return undefined;
}

/** Checks that new work names a joined host, and that a run is on the host of its claim. */
function findInBeginnings(state: State, added: readonly RecordedEvent[]): string | undefined {
  for (const { type, data, seq } of added) {
    if (type !== 'TaskClaimed' && type !== 'AgentRequested' && type !== 'PipelineStarted') continue;
    if (data.host === undefined) return `${seq}: ${type} names no host`;
    if (findHost(state, data.host) === undefined) return `${seq}: ${type} on ${data.host}, which is not in`;
    const claim = 'task' in data ? state.tasks.get(data.task?.task_id ?? '')?.claim : undefined;
    if (claim && claim.sessionId === ('task' in data ? data.task?.session_id : '') && claim.host !== data.host)
      return `${seq}: ${type} on ${data.host}, and its claim on ${claim.host ?? ''}`;
  }
  return undefined;
}

/** Checks that every open run and claim has one joined host. */
function findInRuns(state: State): string | undefined {
  const open = [...state.agents.values(), ...state.pipelines.values()].filter(
    (run) => run.outcome === null || ('process' in run && run.process !== 'gone'),
  );
  const held = [...state.tasks.values()].flatMap(({ claim }) => claim ?? []);
  for (const run of [...open, ...held]) {
    const host = hostOf(run, state);
    if (host === undefined || findHost(state, host) === undefined)
      return `${JSON.stringify(run)} is on ${host ?? 'no host'}, which is not in`;
  }
  for (const { id, owner, host } of state.agents.values()) {
    const around = state.pipelines.get(owner?.pipelineId ?? '');
    if (around !== undefined && around.host !== host) return `${id}: its pipeline is on ${around.host ?? ''}`;
  }
  return undefined;
}

/** Checks that every effect has one owner at each head. */
function findInEffects(state: State): string | undefined {
  const caretaker = findFleet(state)?.caretaker?.host;
  for (const effect of state.effects.values()) {
    const owner = effectOwner(effect, state);
    if (owner !== 'caretaker' && findHost(state, owner.host) === undefined)
      return `${effect.key} waits for ${owner.host}, which is not in`;
    const mine = [...state.hosts.keys()].filter((host) =>
      isMine(effect, state, { host, isCaretaker: host === caretaker }),
    );
    if (mine.length !== 1) return `${effect.key} belongs to ${mine.join(' and ') || 'nobody'}`;
  }
  return undefined;
}

/**
 * Checks that no host starts more agents than it has room for. An agent resumed by a person may be one too many, as on
 * a single machine.
 */
function findInRoom(state: State, added: readonly RecordedEvent[]): string | undefined {
  if (added.some(({ type }) => type === 'DecisionResolved' || type === 'AgentResumeRequested')) return undefined;
  for (const { type, data } of added) {
    if (type !== 'AgentRequested' || data.host === undefined) continue;
    const busy = [...state.agents.values()].filter(
      ({ host, process, outcome, parked }) =>
        host === data.host && (process !== 'gone' || (outcome === null && parked === null)),
    );
    const room = findHost(state, data.host)?.agents ?? 0;
    if (busy.length > room) return `${data.host}: ${busy.length} agents in ${room}`;
  }
  return undefined;
}
