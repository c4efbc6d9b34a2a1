import { writeStdout } from '../../../api/stdio.ts';
import type { AcpLine } from '../../../streams/acp.ts';

export type PrintLine = (line: AcpLine) => void;

/** Writes synchronously, so that the supervisor has read all earlier output before it answers a hook call. */
export function printLine(line: AcpLine): void {
  writeStdout(`${JSON.stringify(line)}\n`);
}
