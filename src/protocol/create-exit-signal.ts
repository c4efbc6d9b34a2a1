import type { ExitSignal } from './exit-signal-shape.ts';
import { EXIT_PROTOCOL } from './exit-signal-shape.ts';
import type { ExitReason, Phase } from './phase.ts';

/** An exit signal that can be added to. It is what it shows: `JSON.stringify` gives the message itself. */
export interface ExitSignalBuilder extends ExitSignal {
  withPrUrl(url: string): ExitSignalBuilder;
  /** Path of the evidence bundle, relative to the workspace. */
  withEvidence(ref: string): ExitSignalBuilder;
  withNotes(notes: string): ExitSignalBuilder;
}

/** Starts an exit signal. Nothing is checked here: `validateExitSignal` and whoever receives it do that. */
export function createExitSignal(phase: Phase, reason: ExitReason): ExitSignalBuilder {
  return new Builder({
    protocol: EXIT_PROTOCOL,
    version: '1.0.0',
    phase_completed: phase,
    exit_reason: reason,
  });
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
