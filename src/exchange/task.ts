import { accepted, type Parsed } from '../protocol/shape/problem.ts';
import type { SHOWN_STATUSES } from '../protocol/shape/shared-fields.ts';

export interface ExchangedTask {
  readonly id: string;
  readonly title: string;
  /** Empty if there is none. */
  readonly description: string;
  readonly status: TaskStatus;
  /** Why it is blocked or cancelled; null otherwise. */
  readonly reason: string | null;
  /** Larger values come first. */
  readonly priority: number;
  readonly after: readonly string[];
  /** The GitHub issue that the task comes from, if the text has its address. */
  readonly githubIssue?: GithubIssueRef;
}

export interface GithubIssueRef {
  /** `owner/name`, preceded by the host unless that is github.com. */
  readonly repository: string;
  readonly number: number;
}

export type TaskStatus = (typeof SHOWN_STATUSES)[number];

/** An interpretation that the user may not expect. It does not stop the import. */
export interface Notice {
  readonly message: string;
  readonly line: number | null;
}

export interface ImportedTasks {
  /** Dependencies first, otherwise in the order of the text. */
  readonly tasks: readonly ExchangedTask[];
  readonly notices: readonly Notice[];
}

export interface ExportedText {
  readonly text: string;
  readonly notices: readonly Notice[];
}

export interface ExchangeFormat {
  readonly name: FormatName;
  readonly title: string;
  readonly read: (text: string, options?: ImportOptions) => Parsed<ImportedTasks>;
  readonly render: (tasks: readonly ExchangedTask[], options: ExportOptions) => Parsed<ExportedText>;
}

export const FORMAT_NAMES = ['markdown', 'task-master', 'beads', 'github'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

export interface ImportOptions {
  /** Ids of existing tasks that the text may refer to. */
  readonly known?: ReadonlySet<string>;
  readonly tag?: string;
}

export interface ExportOptions {
  /** The existing file. Content unknown to Baton is kept. */
  readonly existing?: string;
  readonly tag?: string;
  /** The current time in ISO 8601, for `closed_at` of beads. */
  readonly at: string;
}

/** All limits of an import. Exceeding one is a problem with its position; nothing is truncated. */
export const EXCHANGE_LIMITS = {
  tasks: 10_000,
  bytes: 8 * 1024 * 1024,
  /** A title is one line of a table, so longer text belongs in the description. */
  titleCharacters: 1000,
  /** This many fit into one ledger entry with the other fields. */
  dependencies: 800,
  depth: 30,
  reasonCharacters: 1000,
  problems: 100,
} as const;

/** The tasks of an existing file by id. A file without tasks is valid, and tasks are added to it. */
export function readExisting(read: Parsed<ImportedTasks> | undefined): Parsed<ReadonlyMap<string, ExchangedTask>> {
  if (read?.ok === false && read.problems[0].code !== 'import/no-tasks') return read;
  return accepted(new Map(read?.ok === true ? read.value.tasks.map((task) => [task.id, task]) : []));
}

export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const set = new Set(one);
  return set.size === new Set(other).size && other.every((id) => set.has(id));
}

/** Returns the word to write for a meaning: the first one that is read as it. */
export function firstWordFor<M>(words: ReadonlyMap<string, M>, meaning: M): string {
  for (const [word, meant] of words) if (meant === meaning) return word;
  return '';
}
