import { acceptRules } from './accept-rules.ts';
import { operation } from './operation.ts';

const PEOPLE = ['operator'] as const;

export const runbookRules = operation({
  name: 'runbook_rules',
  about: 'The runbook in force, and how the working file differs from it in the fields that decide about gates.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: {} },
});

export const runbookAdopt = operation({
  name: 'runbook_adopt',
  about: 'Put the working runbook in force. If it loosens the rules, its hash has to be named.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: { kind: 'object', fields: { accept_rules: acceptRules } },
});
