import type { TaskStatus } from './task.ts';

/** What beads says, and what that is in Baton. The first word of each status is the one that is written back. */
export const BEADS_STATUSES: ReadonlyMap<string, TaskStatus> = new Map([
  ['open', 'todo'],
  ['in_progress', 'in_progress'],
  ['hooked', 'in_progress'],
  ['closed', 'done'],
  ['blocked', 'blocked'],
  ['deferred', 'blocked'],
  ['pinned', 'blocked'],
]);

/** Kinds of dependencies that keep work from starting, besides being a part of something. */
export const BLOCKING_DEPENDENCIES: ReadonlySet<string> = new Set(['blocks', 'conditional-blocks', 'waits-for']);

/** Beads counts from 0, the most urgent, to 4; 2 is where it starts. */
export function priorityOfBeads(beads: number): number {
  return (2 - beads) * 10;
}

export function beadsPriority(priority: number): number {
  return Math.min(4, Math.max(0, 2 - Math.round(priority / 10)));
}
