import { PHASES } from '../../protocol/phase.ts';
import type { Shape, TextShape } from '../../protocol/shape/shape.ts';

const name = {
  kind: 'text',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  expected: 'letters, digits, . _ -, at most 64',
} as const satisfies TextShape;

/** A declaration for `extendWorkflow`, which checks what a shape cannot say. */
export const rolesShape = {
  kind: 'object',
  optional: true,
  about: 'Roles beside the built-in ones, and the ways that work takes to them and from them.',
  fields: {
    add: {
      kind: 'list',
      optional: true,
      about: 'New roles.',
      of: {
        kind: 'object',
        fields: {
          name: { ...name, about: 'The name of the role, as in `security`.' },
          agent: { ...name, about: 'What it is called in handoffs, as in `security-agent`.' },
        },
      },
    },
    edges: {
      kind: 'list',
      optional: true,
      about: 'New ways that work can take.',
      of: {
        kind: 'object',
        fields: {
          from: { ...name, about: 'Who sends the handoff.' },
          to: { ...name, about: 'Who receives it.' },
          when: { kind: 'text', optional: true, about: 'When this way is taken, in a few words.' },
          phase: { kind: 'choice', values: PHASES, about: "The task's phase afterwards." },
          next: { ...name, optional: true, about: "The role whose turn it is; left out: the receiver's." },
          elements: { kind: 'object', fields: {}, open: true, optional: true, about: 'What the handoff contains.' },
        },
      },
    },
    reviewer: {
      kind: 'object',
      optional: true,
      about: 'Who may review.',
      fields: {
        same_agent: {
          kind: 'flag',
          optional: true,
          about: 'Whether an agent may approve what it worked on, in another session; false where it is left out.',
        },
      },
    },
    without: {
      kind: 'list',
      optional: true,
      about: 'Built-in ways that are closed, so that nobody can walk around a new role.',
      of: { kind: 'object', fields: { from: name, to: name } },
    },
  },
} as const satisfies Shape;
