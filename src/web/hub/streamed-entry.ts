/** An entry as the event stream brings it. */
export interface StreamedEntry {
  readonly project: string;
  readonly seq: number;
  readonly entry: unknown;
  readonly hash: string;
}
