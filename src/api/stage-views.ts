import { ACTIVITIES } from '../protocol/phase.ts';
import { choice, count, list, nullable, object, text } from '../protocol/shape/build-shape.ts';
import type { ValueOf } from '../protocol/shape/shape.ts';

export const times = {
  pending_ms: { ...count, about: 'Time until the tasks that it waits for were done.' },
  queued_ms: { ...count, about: 'Time until a session claimed it.' },
  running_ms: { ...count, about: 'Time under a claim.' },
  checks_ms: { ...count, about: 'Time in checks.' },
  merging_ms: { ...count, about: 'Time in the merge.' },
  waiting_ms: { ...count, about: 'Time until a person answered.' },
  blocked_ms: { ...count, about: 'Time in the phase BLOCKED.' },
};

export const stageView = object({
  name: { ...text, about: 'A role, `ci`, `merge`, or the phase of a task without roles.' },
  status: {
    ...choice(['done', 'failed', 'now', 'ahead']),
    about: '`now`: the task is in this stage; `ahead`: it has not reached it.',
  },
  visits: { ...count, about: 'How often the task reached it.' },
  activity: {
    ...nullable(choice(ACTIVITIES)),
    about: 'What the task does in this stage now; null if it is in another stage.',
  },
  outcome: { ...nullable(text), about: 'How its newest claim, checks or merge ended.' },
  ...times,
});
export type StageView = ValueOf<typeof stageView>;

/** A running workflow, in brief. */
export const workflowBrief = object({
  task_id: text,
  title: text,
  activity: { ...choice(ACTIVITIES), about: 'What the task does now.' },
  since: { ...text, about: 'When this activity began.' },
  rounds: { ...count, about: 'How often the work went back to the fixer.' },
  stages: list(stageView),
});
export type WorkflowBrief = ValueOf<typeof workflowBrief>;
