/** The field by which an operator agrees to a runbook that loosens the rules in force. */
export const acceptRules = {
  kind: 'text',
  optional: true,
  pattern: '^[0-9a-f]{64}$',
  expected: 'the hash of a runbook',
  about: 'The hash of the working runbook, if it loosens the rules in force: you have seen how it differs.',
} as const;
