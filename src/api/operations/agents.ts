import { agentSignalShape } from '../../protocol/agent-signal.ts';
import { operation } from './operation.ts';

/** Left out: whoever asks. */
const agentId = {
  kind: 'text',
  notEmpty: true,
  optional: true,
  about: 'Which agent; your own where left out.',
} as const;

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
  access: ['session', 'agent', 'operator'],
  kind: 'write',
  shape: { ...agentSignalShape, fields: { ...agentSignalShape.fields, agent_id: agentId } },
});

/** The two events of the command hook, for agents whose supervisor does not hear it. */
export const agentIdle = operation({
  name: 'agent_idle',
  about: 'The agent waits for input, or its stop hook was told to count a stop as that.',
  access: ['session', 'agent', 'supervisor', 'operator'],
  kind: 'write',
  tool: false,
  shape: { kind: 'object', fields: { agent_id: agentId } },
});

export const agentStop = operation({
  name: 'agent_stop',
  about: 'The agent tried to stop without a signal, and a person is to be told.',
  access: ['session', 'agent', 'supervisor', 'operator'],
  kind: 'write',
  tool: false,
  shape: { kind: 'object', fields: { agent_id: agentId } },
});

export const taskWorktree = operation({
  name: 'task_worktree',
  about:
    'Get a git worktree for the task you have claimed, on a branch of its own. Work, commit and push there. If you lose the claim, git refuses your commits and pushes there.',
  access: ['session'],
  kind: 'read',
  shape: { kind: 'object', fields: {} },
});
