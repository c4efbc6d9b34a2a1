import { event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';

export interface NameBranch {
  readonly id: string;
  readonly epoch: number;
  /** What the template makes of the task now. */
  readonly branch: string;
}

/** The branch that a task is worked on in, before git is asked for it. The first name stays, whatever the template says later. */
export function decideNameBranch(state: State, { id, epoch, branch }: NameBranch): Outcome<string> {
  const task = state.tasks.get(id);
  if (task?.claim?.epoch !== epoch)
    return refusal('claim-ended', `the claim on ${id} has ended`, 'Nothing is started for it any more.');
  if (task.flow.branch !== null) return decided([], task.flow.branch);
  const owner = [...state.tasks.values()].find((each) => each.flow.branch === branch);
  if (owner === undefined) return decided([event('BranchNamed', { task_id: id, branch })], branch);
  const hint = 'Ids that look alike are told apart by `${task.n}`: put it into `workspace.branch` in baton.toml.';
  return refusal('branch-taken', `branch '${branch}' belongs to ${owner.id}`, hint);
}
