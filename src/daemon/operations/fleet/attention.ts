import { type Reason, summarizeReasons } from '../../../api/all-clear.ts';
import { describeClock, describeHostState, type FleetView, type HostView } from '../../../api/fleet-view.ts';
import { shellWord } from '../../../protocol/text/quote-for-shell.ts';
import type { State } from '../../../state/state.ts';
import { isCancelled, type Task } from '../../../state/tasks/task.ts';

/** Returns what a person must do about the hosts of a project. Problems of the database are reported as the store's. */
export function fleetAttention(fleet: FleetView): readonly Reason[] {
  const others = fleet.hosts.filter(({ state }) => state !== 'removed');
  // Without an answer the state of the other hosts is unknown, and the store is the reason.
  const silent = fleet.store.away_since === null ? others.filter(isMissed) : [];
  return [
    ...summarizeReasons(silent.map(silentHost), more('hosts are silent')),
    ...summarizeReasons(others.filter(hasWrongClock).map(wrongClock), more('clocks are wrong')),
    ...summarizeReasons(
      others.filter((host) => isOutdated(host, fleet)).map(outdatedHost(fleet)),
      more('hosts are outdated'),
    ),
    ...joiningHosts(fleet),
    ...fleet.problems.map(({ message, hint }) => ownProblem(fleet.here, message, hint)),
  ];
}

/** Work that only one host has, so no other host can continue it. */
export function pushAttention(state: State): readonly Reason[] {
  const unpushed = [...state.tasks.values()].flatMap((task) => unpushedTask(task) ?? []);
  const rest = (count: number) => ({ title: `the work of ${count} more tasks is not pushed`, next: 'baton task list' });
  return summarizeReasons(unpushed, rest);
}

const ONE = { count: 1, task_id: null } as const;
const LIST = 'baton host list';

function more(what: string): (count: number) => { readonly title: string; readonly next: string } {
  return (count) => ({ title: `${count} more ${what}`, next: LIST });
}

/** A silent host without claims delays no work. */
function isMissed({ state, claims, agents }: HostView): boolean {
  return state === 'silent' && (claims > 0 || agents.running > 0);
}

function silentHost(host: HostView): Reason {
  const { name, claims } = host;
  const title = `Host ${name} ${describeSilence(host)}, with ${claims} ${claims === 1 ? 'claim' : 'claims'}`;
  const context =
    'Its claims expire, and its tasks continue elsewhere from what was pushed. A host that never returns is removed.';
  return {
    ...ONE,
    kind: 'host',
    title,
    context,
    next: `baton host remove ${shellWord(name)} --reason "…" (if it never returns)`,
  };
}

function describeSilence(host: HostView): string {
  return host.silent_ms === null ? describeHostState(host) : `is ${describeHostState(host)}`;
}

const WRONG_CLOCK_MS = 30_000;

function hasWrongClock({ offset_ms: offset }: HostView): boolean {
  return offset !== null && Math.abs(offset) > WRONG_CLOCK_MS;
}

function wrongClock({ name, offset_ms: offset }: HostView): Reason {
  const title = `Host ${name}: ${describeClock(offset ?? 0)}${(offset ?? 0) > 0 ? ' of' : ''} the database's`;
  const context = 'Baton corrects its times by the difference. Programs on that host do not.';
  return { ...ONE, kind: 'clock', title, context, next: `timedatectl set-ntp true (on ${name})` };
}

function ownProblem(host: string, message: string, hint: string): Reason {
  return { ...ONE, kind: 'host', title: `Host ${host}: ${message}`, context: hint, next: LIST };
}

function isOutdated({ level, state }: HostView, fleet: FleetView): boolean {
  return state !== 'silent' && level !== null && level < fleet.level;
}

function outdatedHost({ level: wanted }: FleetView): (host: HostView) => Reason {
  return ({ name, version, level }) => {
    const title = `Host ${name} runs version ${version ?? 'unknown'} and decides nothing`;
    const context = `The ledger has entries of level ${wanted}, and that version knows level ${level ?? 0}. Its agents continue.`;
    return {
      ...ONE,
      kind: 'version',
      title,
      context,
      next: `install the newer version on ${name}, then: baton down && baton up`,
    };
  };
}

function joiningHosts({ joining }: FleetView): Reason[] {
  if (joining === 0) return [];
  const title = joining === 1 ? 'A host asks to join' : `${joining} hosts ask to join`;
  const context =
    'Compare the fingerprint with the one that the host itself printed, then: baton host admit NAME FINGERPRINT';
  return [{ kind: 'joining', count: joining, task_id: null, title, context, next: LIST }];
}

function unpushedTask(task: Task): Reason | undefined {
  const { id, work, phase } = task;
  if (work === null || work.failed === null || phase === 'COMPLETED' || isCancelled(task)) return undefined;
  const title = `The work on ${id} is only on host ${work.host}: it could not be pushed`;
  const next = `baton task show ${shellWord(id)}`;
  return { kind: 'push', count: 1, task_id: id, title, context: work.failed, next };
}
