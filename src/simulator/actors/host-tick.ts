import type { Caller } from '../../state/caller.ts';
import { isHere } from '../../state/fleet/owner.ts';
import { mayCare } from '../../state/fleet/caretaker.ts';
import { measure, pushWork } from './measure.ts';
import { seeMain } from './perform-merge.ts';
import { LEASE_MS, type Host } from '../world/parts.ts';

/** What a daemon does at intervals: everything that no entry triggers. */
export function hostTick(host: Host): void {
  const { world } = host;
  host.catchUp();
  takeCare(host);
  deliverOutbox(host);
  renewLeases(host);
  expireClaims(host);
  if (!host.isReachable) return;
  reportLostProcesses(host);
  measureEnded(host);
  if (isCares(host)) seeMain(host);
  if (!world.isHealed && world.random.chance(0.04)) host.saveSnapshot();
  host.reconcile();
}

function isCares(host: Host): boolean {
  return !host.world.isFleet || host.term !== undefined;
}

/** In a fleet: renews the caretaker's lease row, or takes it if it has expired by the database's clock. */
function takeCare(host: Host): void {
  const { world } = host;
  if (!world.isFleet || host.isCutOff) {
    // By its own clock the lease has lapsed, although the database may have granted it to nobody else yet.
    if (host.careUntilMs + host.clockMs < world.nowMs) host.term = undefined;
    return;
  }
  const { care } = world;
  if (!mayCare(host.state, host.name)) {
    host.term = undefined;
    return;
  }
  if (care.host === host.name && care.untilMs >= world.nowMs && host.term === care.term) {
    world.care = { ...care, untilMs: world.nowMs + CARE_MS };
    host.careUntilMs = world.nowMs + CARE_MS;
    return;
  }
  if (care.untilMs >= world.nowMs && care.host !== host.name) {
    host.term = undefined;
    return;
  }
  const term = care.term + 1;
  world.care = { host: host.name, term, untilMs: world.nowMs + CARE_MS };
  const reply = host.submit({ kind: 'change-caretaker', command: { host: host.name, term } }, SYSTEM);
  if (reply.kind !== 'ok') return;
  host.term = term;
  host.careUntilMs = world.nowMs + CARE_MS;
}

const CARE_MS = 20_000;
const SYSTEM: Caller = { kind: 'system', name: 'daemon' };

/** Delivers what waited while the daemon or the store was away, in order. */
function deliverOutbox(host: Host): void {
  for (;;) {
    const [kept] = host.outbox;
    if (kept === undefined) return;
    const reply = host.submit(kept.make(), kept.caller, kept.key);
    if (reply.kind === 'away') return;
    host.world.auditor.answered(kept.key);
    host.outbox.shift();
  }
}

/** The supervisor of a running process renews its claim; the daemon renews those of runs that wait. */
function renewLeases(host: Host): void {
  if (host.isCutOff) return;
  const { world, state } = host;
  for (const process of world.processes.values()) {
    const { task } = process.run;
    if (process.host === host && process.end === undefined && task !== null)
      renew(host, task.task_id, task.epoch, task.session_id);
  }
  for (const run of [...state.pipelines.values(), ...state.agents.values()]) {
    if (run.task === null || run.outcome !== null || !isHere(run, state, host.hereNow)) continue;
    if ('process' in run && run.process === 'running' && run.parked === null) continue;
    renew(host, run.task.task_id, run.task.epoch, run.task.session_id);
  }
  for (const { taskId, epoch, sessionId, host: of } of world.handClaims)
    if (of === host) renew(host, taskId, epoch, sessionId);
}

function renew(host: Host, taskId: string, epoch: number, sessionId: string): void {
  if (host.state.tasks.get(taskId)?.claim?.sessionId === sessionId) host.world.renew(taskId, epoch, LEASE_MS);
}

/** Claims that were not renewed in time expire. Kept messages are delivered first. */
function expireClaims(host: Host): void {
  if (!isCares(host) || host.outbox.length > 0) return;
  const { world } = host;
  for (const { id, claim } of host.state.tasks.values()) {
    if (claim === null) continue;
    const lease = world.leases.get(id);
    if (lease === undefined || lease.epoch < claim.epoch) world.renew(id, claim.epoch, LEASE_MS);
    else if (lease.epoch === claim.epoch && lease.untilMs < world.nowMs)
      host.submit({ kind: 'expire-claim', command: { id, epoch: claim.epoch } }, careCaller(host));
  }
}

function careCaller({ term }: Host): Caller {
  return term === undefined ? { kind: 'system', name: 'leases' } : { kind: 'system', name: 'caretaker', term };
}

/** A process that nobody reports on any more: its machine was killed. */
function reportLostProcesses(host: Host): void {
  const { world } = host;
  for (const { id, start, process } of host.state.agents.values()) {
    const real = world.processes.get(`${id}:${start}`);
    if (process !== 'running' || real?.host !== host || real.end === undefined) continue;
    const exit = { start, ...real.end, timed_out: false, blocks_used: false, output: null };
    host.submit({ kind: 'report-agent', command: { agentId: id, report: { kind: 'exited', ...exit } } }, SYSTEM);
  }
}

/** Sessions that ended without an exit signal are measured, and their work is pushed. */
function measureEnded(host: Host): void {
  const { state, world } = host;
  for (const { id, claim, endings, work, phase } of state.tasks.values()) {
    const last = state.sessions.get(endings.at(-1)?.sessionId ?? '');
    if (claim !== null || last?.prepared === undefined || !isHere(work ?? { host: null }, state, host.hereNow))
      continue;
    const measured = last.measured === true ? undefined : measure(host, last.id);
    if (measured !== undefined)
      host.submit({ kind: 'measure-session', command: { sessionId: last.id, measured, violations: [] } }, SYSTEM);
    if (world.isFleet && phase !== 'COMPLETED' && work !== null && work.pushed?.epoch !== work.epoch)
      pushWork(host, id);
  }
}
