import { fieldOf, findText, numberOf, textOf } from '../../../protocol/shape/read-unknown.ts';

/** An entry as `entries_read` returns it. */
export interface RunEntry {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly data: unknown;
}

/** A text field of the entry's data; empty if it is absent. */
export function word({ data }: Pick<RunEntry, 'data'>, name: string): string {
  return textOf(fieldOf(data, name));
}

export function findWord({ data }: Pick<RunEntry, 'data'>, name: string): string | undefined {
  return findText(fieldOf(data, name));
}

export function figure({ data }: Pick<RunEntry, 'data'>, name: string): number {
  return numberOf(fieldOf(data, name));
}
