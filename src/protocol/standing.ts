import { count, flag, optional, whole } from './shape/build-shape.ts';
import type { ObjectShape, ValueOf } from './shape/shape.ts';

/**
 * The daemon's view of an agent, as far as its stop hook needs it. The daemon pushes it on every change, and returns it
 * on request.
 */
export const standingShape = {
  kind: 'object',
  fields: {
    at: optional(
      whole,
      'The newest entry that the answer includes. Of two answers, the one with the larger number counts.',
    ),
    has_signalled: { kind: 'flag', about: 'It has sent its signal, or everything that it owes.' },
    is_owned: { kind: 'flag', about: 'A step, or the run itself, still waits for the agent.' },
    is_parked: { kind: 'flag', about: 'The agent waits for a person.' },
    is_held: optional(flag, 'The agent waits for a budget: running work may end, but nothing new begins.'),
    blocks: optional(count, 'How many of its stops were blocked, over all its processes; left out if none.'),
    missing: { kind: 'list', of: { kind: 'text' }, about: 'What the session still has to send, in words.' },
  },
} as const satisfies ObjectShape;

export type Standing = ValueOf<typeof standingShape>;
