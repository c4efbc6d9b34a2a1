import { agentSignalShape } from '../../protocol/agent-signal.ts';
import { AGENT_ERRORS } from '../../protocol/run-plan.ts';
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

/** What supervisors tell the daemon, and ask of it: see `supervisor/contract.ts`. */
const SUPERVISORS = ['supervisor'] as const;
const optionalText = { kind: 'text', optional: true } as const;
const code = { kind: 'number', whole: true, optional: true } as const;
const start = { kind: 'number', min: 1, whole: true, optional: true } as const;
const tokens = { kind: 'number', min: 0, whole: true, optional: true } as const;
const flag = { kind: 'flag', optional: true } as const;

export const agentReport = operation({
  name: 'agent_report',
  about: 'What a supervisor has seen of its agent. A repeat counts once.',
  access: SUPERVISORS,
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: {
      kind: {
        kind: 'choice',
        values: [
          'started',
          'exited',
          'attached',
          'detached',
          'idle',
          'stop',
          'blocked',
          'silent',
          'heard',
          'prompted',
          'errored',
          'used',
        ],
      },
      start,
      supervisor: optionalText,
      process: optionalText,
      code,
      signal: optionalText,
      timed_out: flag,
      blocks_used: flag,
      blocks: tokens,
      output: optionalText,
      why: { kind: 'choice', values: ['stop', 'waiting', 'quiet'], optional: true },
      what: { kind: 'choice', values: ['turn', 'tool'], optional: true },
      for_ms: tokens,
      tool: optionalText,
      prompt: optionalText,
      by: optionalText,
      how: { kind: 'choice', values: ['left', 'lost', 'absent', 'ended'], optional: true },
      talked: flag,
      error: { kind: 'choice', values: AGENT_ERRORS, optional: true },
      conversation_id: optionalText,
      model: optionalText,
      input_tokens: tokens,
      output_tokens: tokens,
      cached_tokens: tokens,
      cost_millicents: tokens,
      turns: tokens,
      waiting_tokens: tokens,
      open_input_tokens: tokens,
      open_output_tokens: tokens,
      open_cached_tokens: tokens,
      unpriced_tokens: tokens,
      reserved_input_tokens: tokens,
      reserved_output_tokens: tokens,
      reserved_cached_tokens: tokens,
      is_due: flag,
      message: optionalText,
      reset_at: { kind: 'text', format: 'iso-8601', optional: true },
    },
  },
});

export const commandReport = operation({
  name: 'command_report',
  about: 'How a shell step or a gate ended. A repeat counts once.',
  access: SUPERVISORS,
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: {
      start,
      code,
      signal: optionalText,
      timed_out: flag,
      blocks_used: flag,
      output: optionalText,
    },
  },
});

export const agentStanding = operation({
  name: 'agent_standing',
  about: 'Whether the agent has signalled, whether anybody waits for it, and what it still owes.',
  access: ['supervisor', 'session', 'worker'],
  kind: 'read',
  tool: false,
  shape: {
    kind: 'object',
    fields: {
      agent_id: { ...optionalText, about: "Only with a worker's token: which agent; the others ask about themselves." },
    },
  },
});
