import { operationCommand } from '../operation-command.ts';
import { fieldsIn, listIn } from '../run/read-fields.ts';
import { parseDecision } from '../run/views.ts';
import { renderDecision, renderDecisions } from './show-decision.ts';

export const decisionArgument = { name: 'ID', about: 'The decision, or the beginning of its id' } as const;

export const decisionListCommand = operationCommand({
  name: 'decision list',
  summary: 'List what waits for a person, oldest first',
  examples: ['baton decision list', 'baton decision list --all'],
  options: [{ name: 'all', short: 'a', about: 'Also those that are settled' }],
  operation: 'decision_list',
  input: ({ options }) => ({ value: options.has('all') ? { all: true } : {} }),
  show: (result) => renderDecisions(listIn(fieldsIn(result)['decisions']).map(parseDecision), new Date()),
});

export const decisionShowCommand = operationCommand({
  name: 'decision show',
  summary: 'Show a decision with its options',
  examples: ['baton decision show 9b2d4c10'],
  args: [decisionArgument],
  operation: 'decision_show',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: (result) => renderDecision(parseDecision(fieldsIn(result)), new Date()),
});
