// oxlint-disable no-control-regex
/**
 * Escape sequences of a terminal: colours, titles, cursor moves. No part of the pattern can match past the next escape,
 * so time is linear.
 */
const SEQUENCE =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])/g;

export function stripTerminalCodes(text: string): string {
  return text.replaceAll(SEQUENCE, '');
}
