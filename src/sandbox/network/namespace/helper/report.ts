/** The helper's message for each port; without an error, the listening server is attached. */
export interface ListenReport {
  readonly port: number;
  readonly error: string | null;
}
