import { operationCommand, pickOptions } from '../operation-command.ts';
import { printable } from '../text.ts';
import { fieldsIn, textIn } from '../run/read-fields.ts';
import { shortId } from '../run/views.ts';
import { decisionArgument } from './decisions.ts';

export const decisionResolveCommand = operationCommand({
  name: 'decision resolve',
  summary: 'Answer a decision',
  examples: ['baton decision resolve 9b2d4c10 1', 'baton decision resolve 9b2d4c10 1 -m "Use the staging database"'],
  args: [decisionArgument, { name: 'N', about: 'The number of the option' }],
  options: [
    { name: 'message', short: 'm', value: 'TEXT', about: 'The reason, recorded and sent to the agent if it continues' },
  ],
  operation: 'decision_resolve',
  input: (given) => {
    const [id, n = ''] = given.args;
    if (!/^[1-9]\d{0,3}$/.test(n)) return { usage: `N must be the number of an option, not ${n}` };
    return { value: { id, option: Number(n), ...pickOptions(given, { message: 'message' }) } };
  },
  show: describeResolved,
});

export function describeResolved(result: unknown): string {
  const { id, action, result: how } = fieldsIn(result);
  const chosen = textIn(action ?? fieldsIn(how)['action']);
  return `Decision ${shortId(textIn(id))}: ${printable(chosen)}.\n`;
}
