/** Words that the views use as values. They are apart from the code of the state, which only the hub loads. */
export const STEERED = ['task', 'pipeline', 'agent'] as const;
export type SteeredKind = (typeof STEERED)[number];

export const WORK_GROUPS = ['running', 'waiting', 'ended'] as const;
export type WorkGroup = (typeof WORK_GROUPS)[number];
