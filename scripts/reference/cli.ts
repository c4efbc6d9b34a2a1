import type { CliCommand, ListedCommand, Option } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { renderUsage } from '../../src/cli/help/render-help.ts';
import { joinSections, renderTable } from './table.ts';

/** Renders docs/reference/cli.md from the commands. */
export async function renderCliPage(): Promise<string> {
  const sections = await Promise.all(COMMANDS.map(async (listed) => renderCommand(listed, await listed.load())));
  return joinSections([HEAD, renderTable(['command', 'does'], COMMANDS.map(renderRow)), ...sections]);
}

const HEAD = `# Commands

This page lists every command with its arguments, options and exit codes. \`baton COMMAND --help\` shows the same in the
terminal. [The command line](../cli.md) explains what the commands have in common. \`npm run pages\` makes this page from
the commands.

All commands exit with 0 on success, 1 on failure and 2 on a usage error, unless their section says otherwise. With
\`--json\` a command prints one JSON document, and errors as JSON too.`;

function renderRow({ name, summary }: ListedCommand): readonly string[] {
  return [`[\`baton ${name}\`](#baton-${anchorOf(name)})`, summary];
}

/** The anchor that GitHub generates for the heading. */
function anchorOf(name: string): string {
  return name.replaceAll(/[^\w\s-]/g, '').replaceAll(' ', '-');
}

function renderCommand({ name, summary }: ListedCommand, command: CliCommand): string {
  const rest = command.rest === undefined ? [] : [command.rest];
  return joinSections([
    `## baton ${name}`,
    `${summary}.`,
    [...command.examples, '', renderUsage(name, command)].map((line) => (line === '' ? '' : `    ${line}`)).join('\n'),
    renderTable(
      ['argument', 'meaning'],
      [...command.args, ...rest].map((argument) => [`\`${argument.name}\``, argument.about]),
    ),
    renderTable(
      ['option', 'meaning'],
      command.options.map((option) => [renderOption(option), option.about]),
    ),
    renderTable(['exit code', 'meaning'], Object.entries(command.exitCodes ?? {})),
  ]).trimEnd();
}

function renderOption({ name, short, value }: Option): string {
  const names = [
    ...(short === undefined ? [] : [`\`-${short}\``]),
    `\`--${name}${value === undefined ? '' : ` ${value}`}\``,
  ];
  return names.join(', ');
}
