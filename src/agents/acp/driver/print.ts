import { writeStdout } from '../../../api/stdio.ts';
import type { AcpLine } from '../../../streams/acp.ts';

export type PrintLine = (line: AcpLine) => void;

/** Written at once and completely: what was printed before a hook call is known when the hook is answered. */
export function printLine(line: AcpLine): void {
  writeStdout(`${JSON.stringify(line)}\n`);
}
