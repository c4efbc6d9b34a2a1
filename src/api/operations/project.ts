import { operation } from './operation.ts';

export const projectBrief = operation({
  name: 'project_brief',
  about:
    'Where the work in this repository stands, for a session that begins: what can be claimed, who works on what, and what the last session left.',
  access: ['operator', 'worker', 'session', 'agent'],
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: {} },
});
