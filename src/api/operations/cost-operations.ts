import { operation } from './operation.ts';

export const COST_KINDS = ['agent', 'pipeline', 'task', 'day', 'model'] as const;

export const costsGet = operation({
  name: 'costs_get',
  about:
    'What was used: tokens, money and time at work and waiting, by agent, pipeline, task, day or model, with the budget of each and how far it is used.',
  access: ['operator'],
  kind: 'read',
  tool: false,
  shape: {
    kind: 'object',
    fields: {
      by: {
        kind: 'choice',
        values: COST_KINDS,
        optional: true,
        about: 'How it is added up; agent where it is left out.',
      },
    },
  },
});
