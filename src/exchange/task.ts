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
