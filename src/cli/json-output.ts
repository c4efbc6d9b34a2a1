import type { OperationName } from '../api/operations/registry.ts';
import { list, map, nullable, object, optional, text, typed, whole } from '../protocol/shape/build-shape.ts';
import type { Shape } from '../protocol/shape/shape.ts';

/** One kind of JSON document that a command prints with `--json`. A test compares it with the real output. */
export type JsonDocument = {
  /** The option with which it is printed; absent for the usual document. */
  readonly when?: string;
  /** Printed as one document per line, as they arrive. */
  readonly lines?: true;
} & (
  | {
      /** The result of this operation; of several, the fields of all of them. */
      readonly result: OperationName | readonly OperationName[];
    }
  | {
      /** Declared by the command, because it calls no operation or adds fields to its result. */
      readonly shape: Shape;
    }
);

export const problemShape = object({
  code: { ...text, about: 'As in docs/errors.md.' },
  message: { ...text, about: 'What is wrong.' },
  path: { ...text, about: 'The place in the message, as in `files[0].path`; empty for the whole message.' },
  line: { ...nullable(whole), about: 'Counted from 1; null if the input was not a text.' },
  column: { ...nullable(whole), about: 'Counted from 1; null if the input was not a text.' },
  hint: { ...text, about: 'What to do next; may be empty.' },
  file: optional(text, 'The file, if there are several.'),
});

/** The output of any failed command with `--json`, including usage errors. */
export const errorShape = object({
  error: object({
    code: { ...text, about: 'As in docs/errors.md.' },
    message: { ...text, about: 'What went wrong.' },
    hint: { ...text, about: 'What to do next; may be empty.' },
    problems: optional(list(problemShape), 'All problems of a file or message, if it has several.'),
    rules: {
      ...optional(typed<object>()),
      about: 'The runbook that loosens the rules: its hash, and how it differs.',
    },
  }),
});

/** The output of a command with `--json` if no daemon can be reached. The call is stored and delivered later. */
export const keptShape = object({
  kept: { kind: 'flag', only: true },
  message: { ...text, about: 'Which call was stored.' },
  hint: { ...text, about: 'When it is delivered.' },
});

/** Added to the result of a read while the project's database is unavailable. */
export const storeAwayField = {
  store: {
    ...optional(object({ away_since: { ...text, about: 'When the database stopped answering.' } })),
    about: 'Only while the database cannot be reached: the result was read before.',
  },
} as const;

/** One entry of the ledger, as `baton ledger log` and `baton run` print it. */
export const entryShape = object({
  v: { ...whole, about: 'The version of the format of entries.' },
  project: text,
  seq: { ...whole, about: 'Its number.' },
  prev: { ...text, about: 'The hash of the entry before it.' },
  at: text,
  actor: { ...text, about: 'Who caused it, as in `operator:ann` or `system`.' },
  type: { ...text, about: 'As in docs/entries.md.' },
  cause: {
    ...nullable(whole),
    about: 'The number of the entry that it follows from; null for the first of a command.',
  },
  data: { ...typed<object>(), about: 'The fields of its type.' },
  tasks: optional(map(whole), 'Its number within each task that it is about; only in entries of version 2.'),
});
