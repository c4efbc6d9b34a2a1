import { agentSignalShape } from '../protocol/agent-signal.ts';
import { operation } from './operation.ts';

export const missionGet = operation({
  name: 'mission_get',
  about: 'Your mission: what you are asked to do, which files to read, and what you must not do.',
  access: ['session'],
  kind: 'read',
  shape: { kind: 'object', fields: {} },
});

export const agentSignal = operation({
  name: 'agent_signal',
  about:
    'Say how your run stands: complete ends your phase (where the project uses exit signals, send exit_signal instead), escalate asks for a person, continue says that you are still at work.',
  access: ['session'],
  kind: 'write',
  shape: agentSignalShape,
});
