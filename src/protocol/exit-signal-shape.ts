import { jsonSchemaOf } from './shape/json-schema.ts';
import { EXIT_REASONS, PHASES } from './phase.ts';
import type { ObjectShape, ValueOf } from './shape/shape.ts';

/** What makes an object an exit signal: other JSON in an agent's output is none of Baton's business. */
export const EXIT_PROTOCOL = 'apm2_agent_exit';

/** How an agent says that it has completed a phase, or cannot (source document 000). */
export const exitSignalShape = {
  kind: 'object',
  about: 'How an agent says that it has completed a phase, or cannot.',
  fields: {
    protocol: { kind: 'text', pattern: `^${EXIT_PROTOCOL}$`, about: `Always \`${EXIT_PROTOCOL}\`.` },
    version: { kind: 'text', pattern: '^1\\.[0-9]+\\.[0-9]+$', about: 'A version 1, as in `1.0.0`.' },
    phase_completed: { kind: 'choice', values: PHASES, about: 'The phase the session was in.' },
    exit_reason: { kind: 'choice', values: EXIT_REASONS, about: 'Why the session ends.' },
    pr_url: { kind: 'text', optional: true, about: 'The pull request, an https URL of at most 2,048 bytes.' },
    evidence_bundle_ref: {
      kind: 'text',
      optional: true,
      about: 'Path of the evidence bundle in the workspace, at most 2,048 bytes.',
    },
    notes: {
      kind: 'text',
      optional: true,
      about: 'Anything the next session should know, at most 10,240 bytes.',
    },
  },
} as const satisfies ObjectShape;

export type ExitSignal = ValueOf<typeof exitSignalShape>;

export const exitSignalSchema = jsonSchemaOf('Exit signal', exitSignalShape);
