import { ACTIVITIES } from '../protocol/phase.ts';
import { choice, count, list, nullable, object, text } from '../protocol/shape/build-shape.ts';
import type { ValueOf } from '../protocol/shape/shape.ts';

export const times = {
  pending_ms: { ...count, about: 'Until the tasks before it were done.' },
  queued_ms: { ...count, about: 'Until it was claimed.' },
  running_ms: { ...count, about: 'Under a claim.' },
  checks_ms: count,
  merging_ms: count,
  waiting_ms: { ...count, about: 'Until a person answered.' },
  blocked_ms: count,
};

export const stageView = object({
  name: { ...text, about: 'A role, `ci`, `merge`, or the phase of a task without roles.' },
  status: choice(['done', 'failed', 'now', 'ahead']),
  visits: { ...count, about: 'How often the task came to it; 0 if it lies ahead.' },
  activity: { ...nullable(choice(ACTIVITIES)), about: 'What happens there now; null if the task is elsewhere.' },
  outcome: { ...nullable(text), about: 'How its newest claim, checks or merge ended.' },
  ...times,
});
export type StageView = ValueOf<typeof stageView>;

/** A running workflow, in brief. */
export const workflowBrief = object({
  task_id: text,
  title: text,
  activity: choice(ACTIVITIES),
  since: { ...text, about: 'When that began.' },
  rounds: { ...count, about: 'How often it went back to the fixer.' },
  stages: list(stageView),
});
export type WorkflowBrief = ValueOf<typeof workflowBrief>;
