import { operationCommand } from './operation-command.ts';
import { printable } from './text.ts';
import { SELF_APPROVE_OPTION, selfApprovalCall } from './self-approve.ts';
import { fieldsIn, textIn } from './run/read-fields.ts';

export const mergeCommand = operationCommand({
  name: 'merge',
  summary: 'Merge a task that is ready',
  examples: ['baton merge W-00001'],
  options: [SELF_APPROVE_OPTION],
  before: (given) => selfApprovalCall(given.args[0], given),
  args: [{ name: 'TASK', about: 'The task; left out: that of your claim', optional: true }],
  operation: 'merge_request',
  input: ({ args: [task_id] }) => ({ value: task_id === undefined ? {} : { task_id } }),
  show: (result) => {
    const { task_id } = fieldsIn(result);
    return `Asked for the merge of ${printable(textIn(task_id))}. See how it goes: baton ledger log -f\n`;
  },
});
