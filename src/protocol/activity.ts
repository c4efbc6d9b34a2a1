/** What a task spends its time with. */
export const ACTIVITIES = [
  /** Tasks that must be done before it are not. */
  'pending',
  /** It can be claimed, and nobody has claimed it. */
  'queued',
  /** A session holds the claim and works. */
  'running',
  /** Its required checks run, or its pull request is published. */
  'checks',
  'merging',
  /** A person must answer before it goes on. */
  'waiting',
  /** It is BLOCKED, and nobody is asked about it. */
  'blocked',
  'done',
  'cancelled',
] as const;

export type Activity = (typeof ACTIVITIES)[number];

/** Nothing more happens to the task. */
export function isOver(activity: Activity): boolean {
  return activity === 'done' || activity === 'cancelled';
}
