import { COST_KINDS } from '../api/operations/cost-operations.ts';
import { operationCommand } from './operation-command.ts';
import { renderCosts } from './render-costs.ts';

export const costsCommand = operationCommand({
  name: 'costs',
  summary: 'Show the tokens, money and time used, and how much of each budget',
  examples: ['baton costs', 'baton costs --by day', 'baton costs --by task --json'],
  options: [
    { name: 'by', value: 'WHAT', about: `How it is added up: ${COST_KINDS.join(', ')}; agent where it is left out` },
  ],
  operation: 'costs_get',
  input: ({ options }) => {
    const by = options.get('by');
    if (by === undefined) return { value: {} };
    if (COST_KINDS.some((kind) => kind === by)) return { value: { by } };
    return { usage: `--by takes one of: ${COST_KINDS.join(', ')}` };
  },
  show: renderCosts,
});
