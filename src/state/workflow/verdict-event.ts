import { PHASES } from '../../protocol/phase.ts';
import { choice, nullable, object, text, whole } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';

/**
 * A handoff: its message as XML, and the phase and role to which it moves the task. `phase` is null if the task stays
 * in its phase.
 */
export const handoffRef = object({
  handoff_id: text,
  task_id: text,
  from: text,
  to: nullable(text),
  phase: nullable(choice(PHASES)),
  next_role: nullable(text),
  xml: text,
});
export type HandoffRef = ValueOf<typeof handoffRef>;

/** The entries about approvals whose sender is not proven. */
export const VERDICT_EVENTS = {
  /**
   * An approval by a session whose client cannot prove that it sent it. `held`: what follows if a person confirms it;
   * null if the person's own configuration accepts such approvals, so that it counts.
   */
  VerdictUnproven: {
    task_id: text,
    epoch: whole,
    session_id: text,
    holder: text,
    principal: text,
    /** `client`: its calls cannot be matched with its output. `shell`: its shell runs beside the client. */
    because: choice(['client', 'shell']),
    held: nullable(
      object({
        to: choice(PHASES),
        next_role: nullable(text),
        handoff: nullable(handoffRef),
        /** The merge that the verdict requests; null if it requests none. */
        merge_id: nullable(text),
      }),
    ),
  },
  /** A person confirmed the approval. */
  VerdictConfirmed: { task_id: text, epoch: whole, session_id: text, by: text },
} as const;
