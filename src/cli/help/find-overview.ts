import type { ListedCommand } from '../command.ts';
import { findHelpGroup } from './help-groups.ts';
import { renderFamilyHelp, renderGroupHelp, renderOverviewHelp } from './render-help.ts';

/**
 * Finds help that no single command gives: of all commands, of a group, or of the commands with the same first word.
 */
export function findOverview(argv: readonly string[], commands: readonly ListedCommand[]): string | undefined {
  const isAsked = argv.some(isHelp);
  const words = argv.filter((word) => !isHelp(word) && !(isAsked && COMMON.has(word)));
  const [first] = words;
  if (first === undefined) return renderOverviewHelp(commands);
  if (words.length > 1) return undefined;
  const group = findHelpGroup(first);
  if (isAsked && group !== undefined) return renderGroupHelp(group, commands);
  const isFamily = commands.some(({ name }) => name.startsWith(`${first} `));
  const isCommand = commands.some(({ name }) => name === first);
  return isFamily && !isCommand ? renderFamilyHelp(first, commands) : undefined;
}

/** They change nothing about a help text. */
const COMMON: ReadonlySet<string> = new Set(['--json', '--no-pager']);

export function isHelp(word: string): boolean {
  return word === '--help' || word === '-h' || word === 'help';
}
