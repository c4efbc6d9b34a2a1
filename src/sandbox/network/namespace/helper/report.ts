/** What the helper sends for each port; without an error, the listening server comes with it. */
export interface ListenReport {
  readonly port: number;
  readonly error: string | null;
}
