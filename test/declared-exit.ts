import { COMMANDS } from '../src/cli/commands.ts';
import { EXIT } from '../src/cli/command.ts';
import { findCommand } from '../src/cli/help/find-command.ts';

/** Throws if a command exited with a code that its help does not list. Every helper of the tests that runs commands calls it. */
export async function requireDeclaredExit(argv: readonly string[], code: number): Promise<void> {
  const { exitCodes = {} } = (await findCommand(argv, COMMANDS)?.load()) ?? {};
  const declared = [EXIT.ok, EXIT.failed, EXIT.usage, ...Object.keys(exitCodes).map(Number)];
  if (!declared.includes(code)) throw new Error(`baton ${argv.join(' ')}: its help has no exit code ${code}`);
}
