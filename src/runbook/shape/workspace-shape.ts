import type { Shape } from '../../protocol/shape/shape.ts';
import { commandField, durationField } from './fields.ts';

const paths = (about: string) =>
  ({
    kind: 'list',
    optional: true,
    of: {
      kind: 'text',
      notEmpty: true,
      format: 'relative-path',
      expected: 'a path below the repository, such as .env',
    },
    about,
  }) as const;

/** What a worktree needs besides what git has. */
export const workspaceShape = {
  kind: 'object',
  optional: true,
  about: 'The worktrees in which sessions work on tasks.',
  fields: {
    branch: {
      kind: 'text',
      optional: true,
      notEmpty: true,
      about:
        'What the branch of a task is called, with `${task.id}` or `${task.n}` in it; feature/${task.id}-${task.slug}.',
    },
    copy: paths('Files and folders that git ignores, copied from the repository into each new worktree.'),
    link: paths('The same as links: all worktrees share what the repository has.'),
    setup: { ...commandField, optional: true, about: 'Run once in each new worktree, before the first session.' },
    setup_timeout: { ...durationField, optional: true, about: 'How long that may take; 10m.' },
  },
} as const satisfies Shape;
