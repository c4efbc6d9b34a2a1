import { redactTokens } from '../../protocol/redact-tokens.ts';
import { printable } from '../../protocol/text/printable.ts';
import { stripTerminalCodes } from '../../protocol/text/terminal-codes.ts';

/** The line as a terminal would show it, without control characters and tokens; for a progress bar, its last state. */
export function safeLine(line: string): string {
  const plain = stripTerminalCodes(line);
  let end = plain.length;
  while (plain[end - 1] === '\r') end -= 1;
  const shown = plain.slice(plain.lastIndexOf('\r', end - 1) + 1, end);
  // Logs of earlier versions may still contain tokens.
  return redactTokens(printable(shown));
}
