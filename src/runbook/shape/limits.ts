/** Every limit on runbooks, in one place. Reaching one is a clear error. */
export const RUNBOOK_LIMITS = {
  fileBytes: 256 * 1024,
  /** All files of a project, and their bytes together. */
  files: 100,
  totalBytes: 1024 * 1024,
  /** Agents, pipelines, commands, workers: so many of each. */
  definitions: 200,
  steps: 200,
  /** Pipelines inside each other. */
  nesting: 16,
  promptFileBytes: 256 * 1024,
  /** A plan is written into the ledger with the run that keeps to it, and an entry has 65,535 bytes. */
  planBytes: 60_000,
} as const;
