/** Every limit on what agents send. All sizes are UTF-8 bytes, all limits inclusive. */
export const PROTOCOL_LIMITS = {
  /** An exit signal. */
  exitSignalBytes: 65_536,
  /** `protocol` and `version` of an exit signal. */
  exitSignalHeaderBytes: 64,
  /** `pr_url` of an exit signal. */
  prUrlBytes: 2_048,
  /** `notes` of an exit signal. */
  notesBytes: 10_240,
  /** `evidence_bundle_ref` of an exit signal. */
  evidenceRefBytes: 2_048,
  /** Every other message, such as a mission, a result or a thought record. */
  messageBytes: 262_144,
  /** The input of a stop hook, which contains the agent's last message. */
  stopHookBytes: 4_194_304,
  /** The XML of a handoff. */
  handoffBytes: 262_144,
  /** Nested elements of a handoff. */
  handoffDepth: 16,
  /** Nested values of JSON and YAML: more than any message needs, and few enough for recursion. */
  nesting: 32,
  /** Lexemes of a YAML text. Each takes microseconds, and 256 KiB can contain a quarter of a million. */
  yamlLexemes: 100_000,
  /** Problems that Baton reports for one message. A file with more is probably the wrong file. */
  problems: 100,
  /** The part of a wrong value that an error message quotes. */
  quotedCharacters: 200,
  /** The id of a task. */
  taskIdCharacters: 64,
  /** The description of a task. It fits into one entry with the other fields. */
  descriptionBytes: 16_384,
  /** The title of a new task. Older ledgers have longer ones. */
  titleCharacters: 256,
  /** Proposed tasks below one task that wait for a person. */
  openProposals: 20,
  /** One import of tasks. */
  importBytes: 8 * 1024 * 1024,
  /** Tasks of an import that are recorded in one commit, which takes some milliseconds. */
  importPart: 250,
  /** A shell command with its values. Linux allows 131,072 bytes for one argument, including its terminator. */
  shellCommandBytes: 120_000,
} as const;

/** `limits.tasks`: what the sessions below one task of a person may create before a person is asked. */
export const DEFAULT_TASK_LIMITS = {
  /** Tasks, over all sessions. */
  number: 10,
  /** Tasks of tasks: 1 if only sessions of the person's own task may create any. */
  depth: 2,
} as const;
