import { event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import { effectKey, findEffect } from '../runs/effect.ts';
import type { State } from '../state.ts';
import type { WorkflowEvents } from './workflow-event.ts';

/** Records a session's preparation before the agent is started; a retry keeps the first one. */
export function decidePrepareSession(state: State, command: WorkflowEvents['SessionPrepared']): Outcome<null> {
  const task = state.tasks.get(command.task_id);
  if (task?.claim?.epoch !== command.epoch) return refuseEndedClaim(command.task_id);
  const isKnown = state.sessions.get(task.claim.sessionId)?.prepared !== undefined;
  return decided(isKnown ? [] : [event('SessionPrepared', command)], null);
}

/** Names the branch of a task before git creates it. The first name stays, even if the template changes. */
export function decideNameBranch(
  state: State,
  { id, epoch, branch }: { readonly id: string; readonly epoch: number; readonly branch: string },
): Outcome<string> {
  const task = state.tasks.get(id);
  if (task?.claim?.epoch !== epoch) return refuseEndedClaim(id);
  if (task.flow.branch !== null) return decided([], task.flow.branch);
  const owner = [...state.tasks.values()].find((each) => each.flow.branch === branch);
  if (owner === undefined) return decided([event('BranchNamed', { task_id: id, branch })], branch);
  const hint = '`${task.n}` distinguishes ids that look alike: put it into `workspace.branch` in baton.toml.';
  return refusal('branch-taken', `branch '${branch}' belongs to ${owner.id}`, hint);
}

export type ClearPlace = Omit<WorkflowEvents['PlaceCleared'], 'branch'>;

/** Records a cleared worktree. Does nothing if the task was reinstated meanwhile. */
export function decideClearPlace(state: State, cleared: ClearPlace): Outcome<null> {
  const effect = findEffect(state, 'PlaceClearRequested', effectKey.clear(cleared.task_id));
  if (effect === undefined) return decided([], null);
  return decided([event('PlaceCleared', { ...cleared, branch: effect.data.branch })], null);
}

function refuseEndedClaim(id: string): ReturnType<typeof refusal> {
  return refusal('claim-ended', `the claim on ${id} has ended`, `Claim the task again: baton task claim ${id}`);
}
