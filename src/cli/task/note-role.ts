import { ROLES } from '../../protocol/handoff/edges.ts';
import { findNearest } from '../../protocol/shape/problem.ts';
import type { Io, ParsedArguments } from '../command.ts';
import { printable } from '../text.ts';

/** Tasks accept any role. Prints a note if the role is unknown to the project but resembles one of its roles. */
export async function noteUnknownRole(given: ParsedArguments, io: Io): Promise<void> {
  const role = given.options.get('role');
  if (role === undefined || ROLES.some(({ name }) => name === role)) return;
  const { readRunbook } = await import('../../runbook/read/read-runbook.ts');
  const { findProjectDir } = await import('../runbook/runbook.ts');
  const { checked } = await readRunbook(await findProjectDir(given, io));
  const names = (checked.ok ? checked.value.workflow.roles : ROLES).map(({ name }) => name);
  const nearest = names.includes(role) ? undefined : findNearest(role, names);
  if (nearest !== undefined)
    io.err(`Note: ${printable(role)} is not a role of this project; did you mean ${printable(nearest)}?\n`);
}
