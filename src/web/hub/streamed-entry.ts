/** An entry as the event stream sends it. */
export interface StreamedEntry {
  readonly project: string;
  readonly seq: number;
  readonly entry: unknown;
  readonly hash: string;
}
