import { AGENT_ERRORS } from '../../protocol/run-plan.ts';
import { operation } from './operation.ts';

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
