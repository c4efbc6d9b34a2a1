/** Every limit on what agents send. All sizes are UTF-8 bytes, all limits inclusive. */
export const PROTOCOL_LIMITS = {
  exitSignalBytes: 65_536,
  exitSignalHeaderBytes: 64,
  prUrlBytes: 2_048,
  notesBytes: 10_240,
  evidenceRefBytes: 2_048,
  messageBytes: 262_144,
  /** A hook gets the agent's last words, which may be long. */
  stopHookBytes: 4_194_304,
  handoffBytes: 262_144,
  handoffDepth: 16,
  /** Nesting of JSON and YAML. Deeper than any message needs, shallow enough for plain recursion. */
  nesting: 32,
  /** Words, signs and spaces of a YAML text. Each costs microseconds, and 256 KiB could hold a quarter of a million. */
  yamlLexemes: 100_000,
  /** Problems reported for one message: past this the sender has the wrong file, not a slip. */
  problems: 100,
  /** Characters of a foreign value that a problem quotes. */
  quotedCharacters: 200,
  taskIdCharacters: 64,
  /** A command for the shell with its values: an argument of a program may have 131,072, its end included. */
  shellCommandBytes: 120_000,
} as const;
