import { EXIT_REASONS, type ExitReason, type Phase, PHASES } from '../phase.ts';
import { optional, text } from '../shape/build-shape.ts';
import { jsonSchemaOf, type ObjectShape, type ValueOf } from '../shape/shape.ts';

/** The value of `protocol` that identifies an exit signal; Baton ignores other JSON in an agent's output. */
export const EXIT_PROTOCOL = 'apm2_agent_exit';

/** An agent's report that it has completed a phase, or cannot (source document 000). */
export const exitSignalShape = {
  kind: 'object',
  about: 'The message with which an agent ends a phase, or reports that it cannot.',
  fields: {
    protocol: { kind: 'text', pattern: `^${EXIT_PROTOCOL}$`, about: `Always \`${EXIT_PROTOCOL}\`.` },
    version: { kind: 'text', pattern: '^1\\.[0-9]+\\.[0-9]+$', about: 'A version 1, as in `1.0.0`.' },
    phase_completed: { kind: 'choice', values: PHASES, about: 'The phase the session was in.' },
    exit_reason: { kind: 'choice', values: EXIT_REASONS, about: 'Why the session ends.' },
    pr_url: optional(text, 'The pull request, an https URL of at most 2,048 bytes.'),
    evidence_bundle_ref: optional(text, 'Path of the evidence bundle in the workspace, at most 2,048 bytes.'),
    notes: optional(text, 'Anything the next session should know, at most 10,240 bytes.'),
  },
} as const satisfies ObjectShape;

export type ExitSignal = ValueOf<typeof exitSignalShape>;
export const exitSignalSchema = jsonSchemaOf('Exit signal', exitSignalShape);

export interface ExitSignalBuilder extends ExitSignal {
  withPrUrl(url: string): ExitSignalBuilder;
  withEvidence(ref: string): ExitSignalBuilder;
  withNotes(notes: string): ExitSignalBuilder;
}

export function createExitSignal(phase: Phase, reason: ExitReason): ExitSignalBuilder {
  return new Builder({ protocol: EXIT_PROTOCOL, version: '1.0.0', phase_completed: phase, exit_reason: reason });
}

class Builder implements ExitSignalBuilder {
  declare readonly protocol: string;
  declare readonly version: string;
  declare readonly phase_completed: Phase;
  declare readonly exit_reason: ExitReason;
  readonly #signal: ExitSignal;

  constructor(signal: ExitSignal) {
    this.#signal = signal;
    Object.assign(this, signal);
    Object.freeze(this);
  }

  withPrUrl(url: string): ExitSignalBuilder {
    return new Builder({ ...this.#signal, pr_url: url });
  }

  withEvidence(ref: string): ExitSignalBuilder {
    return new Builder({ ...this.#signal, evidence_bundle_ref: ref });
  }

  withNotes(notes: string): ExitSignalBuilder {
    return new Builder({ ...this.#signal, notes });
  }
}
