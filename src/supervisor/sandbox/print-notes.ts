import type { SandboxRecord } from '../../protocol/sandbox.ts';

/**
 * Prints what a sandbox lacks at the start of the session's log. The lines depend on the machine, so all have one mark
 * that distinguishes them from the agent's own output.
 */
export function printNotes({ notes }: Pick<SandboxRecord, 'notes'>, print: (line: string) => void): void {
  for (const note of notes) print(`baton: sandbox: ${note}`);
}
