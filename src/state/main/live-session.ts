/** A session, or a command that Baton runs, as a move of the main branch names it. */
export interface SuspectSession {
  /** Of the agent run, of the session that a client holds a claim in, or of the command. */
  readonly id: string;
  readonly name: string;
  readonly task_id: string | null;
}
