import type { Parsed } from '../protocol/shape/problem.ts';
import type { SHOWN_STATUSES } from '../protocol/shape/shared-fields.ts';

/** A task on its way between Baton and another tool. */
export interface ExchangedTask {
  /** The id that it has in Baton. */
  readonly id: string;
  readonly title: string;
  /** Empty where there is none. */
  readonly description: string;
  readonly status: TaskStatus;
  /** Why it is blocked or cancelled; null for the others. */
  readonly reason: string | null;
  /** The larger, the sooner. */
  readonly priority: number;
  /** Ids of those that must be done first. */
  readonly after: readonly string[];
}

export type TaskStatus = (typeof SHOWN_STATUSES)[number];

/** Something that was understood in a way that somebody may not expect. It stops nothing. */
export interface Notice {
  readonly message: string;
  readonly line: number | null;
}

/** What a text came to. */
export interface ImportedTasks {
  /** Nothing comes before what it waits for; as far as that allows, in the order of the text. */
  readonly tasks: readonly ExchangedTask[];
  readonly notices: readonly Notice[];
}

export interface ExportedText {
  readonly text: string;
  readonly notices: readonly Notice[];
}

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

/** Every limit on what is imported. Reaching one is a problem with its place; nothing is cut off. */
export const EXCHANGE_LIMITS = {
  tasks: 10_000,
  bytes: 8 * 1024 * 1024,
  /** Longer ones belong into the description: a title is one line in a table. */
  titleCharacters: 1000,
  /** What one entry of the ledger can hold, with room for the rest of it. */
  dependencies: 800,
  /** Parts of parts. */
  depth: 30,
  reasonCharacters: 1000,
  problems: 100,
} as const;

export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const set = new Set(one);
  return set.size === new Set(other).size && other.every((id) => set.has(id));
}

/** The word that is written for a meaning: the first of those that are read as it. */
export function firstWordFor<M>(words: ReadonlyMap<string, M>, meaning: M): string {
  for (const [word, meant] of words) if (meant === meaning) return word;
  return '';
}
