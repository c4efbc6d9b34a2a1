import type { Event } from '../state/event.ts';
import { rulesFor } from '../state/rules.ts';
import type { Task } from '../state/tasks/task.ts';
import { holdTask } from './hold-task.ts';
import type { EngineContext } from './context.ts';

const ROUNDS = 3;

/** How often the same finding may come back unchanged. */
const SAME_FINDING = 2;

/** Work goes back to the fixer so often, whoever sends it; then a person is asked whether there is any point. */
export function reviewRounds(world: EngineContext, task: Task): Event[] {
  const { rounds, findings } = task.flow;
  const most = rulesFor(task, world.rules).reviewRounds ?? ROUNDS;
  const stubborn = Object.entries(findings).filter(([, times]) => times > SAME_FINDING);
  if (rounds <= most && stubborn.length === 0) return [];
  const context =
    stubborn.length > 0
      ? `The same finding came back unchanged: ${stubborn.map(([finding]) => finding).join('; ')}`
      : `The work went back to the fixer ${rounds} times; ${most} are allowed.`;
  const options = [
    { label: 'Allow one more round', action: 'retry' },
    { label: 'Cancel the task', action: 'cancel' },
  ] as const;
  return holdTask(world, task, { source: 'review', stage: 'too many rounds', context, options });
}
