/** Words that views use as values. They are in a separate file, because only the hub loads the state's code. */
export const STEERED = ['task', 'pipeline', 'agent'] as const;
export type SteeredKind = (typeof STEERED)[number];

export const WORK_GROUPS = ['running', 'waiting', 'ended'] as const;
export type WorkGroup = (typeof WORK_GROUPS)[number];
