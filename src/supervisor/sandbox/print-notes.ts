import type { SandboxRecord } from '../../protocol/sandbox.ts';

/**
 * Prints what a sandbox lacks at the start of the session's log. Which lines there are depends on the machine, so all of them
 * have one mark, by which readers and tests tell them from the agent's own output.
 */
export function printNotes({ notes }: Pick<SandboxRecord, 'notes'>, print: (line: string) => void): void {
  for (const note of notes) print(`baton: sandbox: ${note}`);
}
