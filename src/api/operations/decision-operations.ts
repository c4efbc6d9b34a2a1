import { operation } from './operation.ts';

const PEOPLE = ['operator'] as const;
const decisionId = { kind: 'text', notEmpty: true, about: 'Of the decision, or the beginning of it.' } as const;

export const decisionList = operation({
  name: 'decision_list',
  about: 'What waits for a person, oldest first, each with its numbered options.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: {
    kind: 'object',
    fields: { all: { kind: 'flag', optional: true, about: 'Also those that are settled.' } },
  },
});

export const decisionShow = operation({
  name: 'decision_show',
  about: 'One decision: what it is about, its options, and who settled it.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { id: decisionId } },
});

export const decisionResolve = operation({
  name: 'decision_resolve',
  about: 'Answer a decision, once: another answer is refused, the same answer again returns the first result.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: {
      id: decisionId,
      option: { kind: 'number', min: 1, whole: true, about: 'The number of the option, from 1.' },
      message: { kind: 'text', optional: true, about: 'The reason, recorded and sent to the agent if it continues.' },
    },
  },
});
