import { agentSignalShape } from '../protocol/agent-signal.ts';
import { operation } from './operation.ts';

export const missionGet = operation({
  name: 'mission_get',
  about:
    'The mission of the task that you hold: what you are asked to do, which files to read, and what you must not do. Claim a task first, unless you were started with one.',
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

export const taskWorktree = operation({
  name: 'task_worktree',
  about:
    'Get a git worktree for the task you have claimed, on a branch of its own. Work, commit and push there. If you lose the claim, git refuses your commits and pushes there.',
  access: ['session'],
  kind: 'read',
  shape: { kind: 'object', fields: {} },
});
