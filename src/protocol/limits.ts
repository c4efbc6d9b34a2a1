/** Every limit on what agents send. All sizes are UTF-8 bytes, all limits inclusive. */
export const PROTOCOL_LIMITS = {
  exitSignalBytes: 65_536,
  exitSignalHeaderBytes: 64,
  prUrlBytes: 2_048,
  notesBytes: 10_240,
  evidenceRefBytes: 2_048,
  messageBytes: 262_144,
  /** The input of a stop hook contains the agent's last message, which may be long. */
  stopHookBytes: 4_194_304,
  handoffBytes: 262_144,
  handoffDepth: 16,
  /** Nesting of JSON and YAML: more than any message needs, and little enough for recursion. */
  nesting: 32,
  /** Lexemes of a YAML text. Each takes microseconds, and 256 KiB can contain a quarter of a million. */
  yamlLexemes: 100_000,
  /** Problems that are reported for one message. With more, it is probably the wrong file. */
  problems: 100,
  /** Characters of the sender's value that a problem text quotes. */
  quotedCharacters: 200,
  taskIdCharacters: 64,
  /** A task's description: fits into one ledger entry with the other fields. */
  descriptionBytes: 16_384,
  /** The size of one import of tasks. */
  importBytes: 8 * 1024 * 1024,
  /** A shell command with its values. Linux allows 131,072 bytes for one argument, including its terminator. */
  shellCommandBytes: 120_000,
} as const;
