import type { ParsedArguments, Option } from './command.ts';
import type { FirstCall } from './operation-command.ts';

/** A person who works alone approves their own change: recorded first, then the command itself is judged with it. */
export const SELF_APPROVE_OPTION: Option = {
  name: 'self-approve',
  value: 'REASON',
  about: 'Operators only: approve a change of your own; the reason is recorded',
};

export function selfApprovalCall(taskId: string | undefined, { options }: ParsedArguments): FirstCall | undefined {
  const reason = options.get(SELF_APPROVE_OPTION.name);
  if (reason === undefined) return undefined;
  if (taskId === undefined) return { usage: '--self-approve needs the task: name its ID' };
  return { operation: 'task_self_approve', input: { task_id: taskId, reason } };
}
