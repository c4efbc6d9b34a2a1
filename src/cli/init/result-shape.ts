import { choice, flag, list, nullable, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { DRY_RUN_OUTCOMES } from './dry-run/verdict.ts';

/** The output of `baton init --json`. */
export const initResult = object({
  branch: { ...text, about: 'The main branch.' },
  has_commit: { ...flag, about: 'The main branch has a commit.' },
  tools: { ...list(text), about: 'The build tools that were found.' },
  checks: {
    ...list(
      object({
        name: { ...text, about: 'The name of the check.' },
        run: { ...text, about: 'The command of the check.' },
        from: { ...nullable(text), about: 'The file that names the command; null if a person named it.' },
      }),
    ),
    about: 'The checks that it wrote to `ci.required`.',
  },
  ci: { ...list(text), about: 'The CI systems that were found.' },
  instructions: { ...list(text), about: 'The files with instructions for agents, such as CLAUDE.md.' },
  agents: {
    ...list(
      object({
        run: { ...text, about: 'As a runbook names the client.' },
        version: nullable(text),
        login: { ...nullable(text), about: 'The file or variable that shows a login; null if none was found.' },
      }),
    ),
    about: 'The installed clients.',
  },
  sandbox: { ...nullable(text), about: 'The strongest mode that works; null if none does.' },
  agent: { ...text, about: 'The client that plays the roles, or `scripted`.' },
  wrote: { ...list(object({ path: text, sha256: text })), about: 'The files that it wrote.' },
  dry_run: {
    ...nullable(
      object({
        outcome: choice(DRY_RUN_OUTCOMES),
        detail: { ...text, about: 'The outcome in a sentence.' },
        check: optional(object({ name: text, output: text }), 'The check that failed.'),
        ms: { ...whole, about: 'How long it took.' },
      }),
    ),
    about: 'The result of the dry run; null with `--no-dry-run`.',
  },
  notes: { ...list(text), about: 'What you should know, such as files that were ignored.' },
  next: { ...list(text), about: 'The commands to type next.' },
  undo: { ...text, about: 'The command that removes the files.' },
});
export type InitResult = ValueOf<typeof initResult>;

/** The output of `baton init --undo --json`. */
export const undoResult = object({
  removed: { ...list(text), about: 'The files that were removed.' },
  edited: { ...list(text), about: 'Files that stay, because they were edited since.' },
  missing: { ...list(text), about: 'Files that were already gone.' },
  committed: { ...list(text), about: 'Removed files that git still has.' },
});
