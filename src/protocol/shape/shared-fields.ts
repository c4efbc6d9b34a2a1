import type { ChoiceShape, TextShape } from './shape.ts';
import { PHASES } from '../phase.ts';

export const protocolVersion = {
  kind: 'text',
  pattern: '^1$',
  quoted: true,
  says: 'Unsupported version: {value} (expected 1)',
  about: 'Always the text "1", in quotes.',
} as const satisfies TextShape;

export const missionTaskId = {
  kind: 'text',
  pattern: '^T[0-9]+$',
  says: 'Invalid task_id format: {value} (expected TNNN)',
  about: 'T and a number, as in T042.',
} as const satisfies TextShape;

export const epicId = {
  kind: 'text',
  pattern: '^E[0-9]+$',
  says: 'Invalid epic_id format: {value} (expected ENNN)',
  about: 'E and a number, as in E005.',
} as const satisfies TextShape;

export const prdId = {
  kind: 'text',
  pattern: '^PRD-[0-9]+$',
  says: 'Invalid prd_id format: {value} (expected PRD-NNN)',
  about: 'PRD- and a number, as in PRD-001.',
} as const satisfies TextShape;

/** A task's own id, in any form that projects use: P0.1.1, T042, W-00042, 123. */
export const taskId = {
  kind: 'text',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  expected: 'letters, digits, `.`, `_`, `-`, at most 64',
  about: 'The task, as in P0.1.1, T042, W-00042 or 123.',
} as const satisfies TextShape;

export const phase = {
  kind: 'choice',
  values: PHASES,
  about: 'A phase of the task.',
} as const satisfies ChoiceShape;

export const TASK_STATUSES = ['todo', 'in_progress', 'blocked', 'done'] as const;
/** All statuses of a task. A worker cannot report `cancelled`; only the cancel command sets it. */
export const SHOWN_STATUSES = [...TASK_STATUSES, 'cancelled'] as const;

export const fileActions = {
  kind: 'choice',
  values: ['created', 'modified', 'deleted'],
  about: 'What happened to the file.',
} as const satisfies ChoiceShape;

export const filePath = {
  kind: 'text',
  format: 'relative-path',
  notEmpty: true,
  says: '{item}: {field} must be relative',
  about: 'Path of the file, relative to the workspace.',
} as const satisfies TextShape;

export const timestamp = {
  kind: 'text',
  format: 'iso-8601',
  expected: 'ISO 8601',
  about: 'When, in ISO 8601, as in 2025-01-15T10:45:00Z.',
} as const satisfies TextShape;

/** The ways in which a task can contradict git or the running processes; reconciliation finds them. */
export const FINDING_KINDS = [
  'commit-missing',
  'commit-gone',
  'commit-reverted',
  'merged-by-hand',
  'worktree-missing',
  'session-dead',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];
