import type { Parsed } from '../protocol/shape/problem.ts';
import type { ExchangedTask, ImportedTasks, ExportedText } from './task.ts';

/** A tool whose list of tasks Baton can read and write. */
export interface ExchangeFormat {
  readonly name: FormatName;
  /** As people call it. */
  readonly title: string;
  readonly read: (text: string, options?: ImportOptions) => Parsed<ImportedTasks>;
  readonly render: (tasks: readonly ExchangedTask[], options: ExportOptions) => Parsed<ExportedText>;
}

export const FORMAT_NAMES = ['markdown', 'task-master', 'beads', 'github'] as const;

export type FormatName = (typeof FORMAT_NAMES)[number];

export interface ImportOptions {
  /** Ids of tasks that are there already: something in the text may wait for them. */
  readonly known?: ReadonlySet<string>;
  /** The list to take, where a file of task-master has several. */
  readonly tag?: string;
}

export interface ExportOptions {
  /** The file that the tasks go into: what Baton does not know stays as it is. */
  readonly existing?: string;
  readonly tag?: string;
  /** Now, in ISO 8601: beads wants to know when something was closed. */
  readonly at: string;
}
