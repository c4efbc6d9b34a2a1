import { choice, flag, list, nullable, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { DRY_RUN_OUTCOMES } from './dry-run/verdict.ts';

/** The output of `baton init --json`. */
export const initResult = object({
  branch: text,
  has_commit: flag,
  tools: { ...list(text), about: 'The build tools that were found.' },
  checks: list(
    object({
      name: text,
      run: text,
      from: { ...nullable(text), about: 'The file that it comes from; null if a person named it.' },
    }),
  ),
  ci: list(text),
  instructions: { ...list(text), about: 'Files such as CLAUDE.md.' },
  agents: {
    ...list(
      object({
        run: text,
        version: nullable(text),
        login: { ...nullable(text), about: 'The file or variable that shows a login.' },
      }),
    ),
    about: 'The installed clients.',
  },
  sandbox: { ...nullable(text), about: 'The strongest mode that works.' },
  agent: { ...text, about: 'Who plays the roles.' },
  wrote: list(object({ path: text, sha256: text })),
  dry_run: {
    ...nullable(
      object({
        outcome: choice(DRY_RUN_OUTCOMES),
        detail: text,
        check: optional(object({ name: text, output: text })),
        ms: whole,
      }),
    ),
    about: 'Null with `--no-dry-run`.',
  },
  notes: list(text),
  next: { ...list(text), about: 'The commands to type next.' },
  undo: text,
});
export type InitResult = ValueOf<typeof initResult>;

/** The output of `baton init --undo --json`. */
export const undoResult = object({
  removed: list(text),
  edited: { ...list(text), about: 'Edited since, so they stay.' },
  missing: list(text),
  committed: { ...list(text), about: 'Removed files that git still has.' },
});
