import type { State } from '../../state/state.ts';

/**
 * The claims that the daemon itself keeps alive: those of runs that wait for a person, run a command or are being started. Where an agent
 * is at work its supervisor does it, so that the claim of one that hangs with its machine runs out.
 */
export function claimsToRenew(state: State): { readonly taskId: string; readonly epoch: number }[] {
  const held = new Map<string, number>();
  for (const { task, outcome } of [...state.pipelines.values(), ...state.agents.values()]) {
    if (task !== null && outcome === null) held.set(task.task_id, task.epoch);
  }
  if (held.size === 0) return [];
  for (const { task, process, parked } of state.agents.values()) {
    // One of an earlier claim, in a person's terminal perhaps, keeps its successor waiting, and renews nothing for it.
    const isOwn = task !== null && held.get(task.task_id) === task.epoch;
    if (isOwn && process === 'running' && parked === null) held.delete(task.task_id);
  }
  return [...held].map(([taskId, epoch]) => ({ taskId, epoch }));
}
