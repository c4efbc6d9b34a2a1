import type { WorkerPlan } from '../../protocol/run-plan.ts';
import { findFleet, type FleetState, type HostRecord, listHosts } from './fleet.ts';

/** Reports whether a worker may work on this host. */
export function hasLabels({ labels }: Pick<HostRecord, 'labels'>, worker: Pick<WorkerPlan, 'labels'>): boolean {
  return (worker.labels ?? []).every((label) => labels.includes(label));
}

/** Reports whether any host that takes new work has the worker's labels. On SQLite labels have no meaning. */
export function hasSomeHost(state: FleetState, worker: Pick<WorkerPlan, 'labels'>): boolean {
  if (findFleet(state) === undefined) return true;
  return listHosts(state).some((host) => !host.draining && hasLabels(host, worker));
}
