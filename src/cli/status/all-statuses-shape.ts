import { statusView } from '../../api/run-views.ts';
import { list, object, optional, text } from '../../protocol/shape/build-shape.ts';
import { errorShape } from '../json-output.ts';

/** The output of `baton status --all --json`. */
export const allStatuses = object({
  projects: list(
    object({
      name: text,
      path: text,
      status: { ...optional(statusView), about: 'As `baton status --json` prints it.' },
      error: { ...optional(errorShape.fields.error), about: 'Why it cannot be read, instead of the status.' },
    }),
  ),
});
