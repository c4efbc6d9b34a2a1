import type { CliCommand, ListedCommand } from '../command.ts';
import { commandsOf, HELP_GROUPS, type HelpGroup } from './help-groups.ts';

type Named = Pick<ListedCommand, 'name' | 'summary'>;

/** Starts with examples, because most readers look for one. */
export function renderCommandHelp({ name: commandName, summary }: Named, command: CliCommand): string {
  const sections = [
    command.examples.map((example) => `  ${example}`).join('\n'),
    `${summary}.`,
    `Usage: ${renderUsage(commandName, command)}`,
    renderColumns(
      'Arguments',
      [...command.args, ...(command.rest === undefined ? [] : [command.rest])].map(({ name, about }) => [name, about]),
    ),
    renderColumns('Options', [
      ...command.options.map(({ name, short, value, about }) => [optionText(name, short, value), about] as const),
      ['-h, --help', 'Show this help'],
      ['    --no-pager', 'Do not use a pager for long output'],
    ]),
    renderColumns('Exit codes', Object.entries(command.exitCodes ?? {})),
  ];
  return joinSections(sections);
}

/** Renders the groups, with commands that share a first word in one row: a list of all commands would be too long. */
export function renderOverviewHelp(commands: readonly Named[]): string {
  const groups = HELP_GROUPS.map((group) => ({
    title: group.title,
    rows: renderFamilies(commandsOf(group, commands)),
  }));
  const width = Math.max(...groups.flatMap(({ rows }) => rows.map(([words]) => words.length)));
  return joinSections([
    '  baton init\n  baton run issue "Add a login page"\n  baton status --watch',
    ABOUT,
    'Usage: baton COMMAND [arguments] [options]',
    ...groups.map(({ title, rows }) => renderColumns(title, rows, width)),
    renderColumns('Options', GLOBAL_OPTIONS),
    renderColumns('More help', [
      ['baton help GROUP', `every command of a group: ${HELP_GROUPS.map(({ name }) => name).join(', ')}`],
      ['baton help COMMAND', 'the arguments, options and exit codes of one command'],
    ]),
  ]);
}

/** Every command of one group with its summary. */
export function renderGroupHelp(group: HelpGroup, commands: readonly Named[]): string {
  const chosen = commandsOf(group, commands);
  return joinSections([
    `  baton ${chosen[0]?.name ?? ''} --help`,
    'Usage: baton COMMAND [arguments] [options]',
    renderCommands(group.title, chosen),
    renderColumns('Options', GLOBAL_OPTIONS),
  ]);
}

/** Every command whose first word is `word`. */
export function renderFamilyHelp(word: string, commands: readonly Named[]): string {
  const chosen = commands.filter(({ name }) => name.startsWith(`${word} `));
  return joinSections([
    `  baton ${chosen[0]?.name ?? word} --help`,
    `Usage: baton ${word} COMMAND [arguments] [options]`,
    renderCommands('Commands', chosen),
    renderColumns('Options', GLOBAL_OPTIONS),
  ]);
}

const ABOUT =
  'Baton is a control plane for coding agents: it starts them, decides whether they may stop, and passes their work on.';

const GLOBAL_OPTIONS = [
  ['-h, --help', 'Show help; after a command, its help'],
  ['-V, --version', 'Show the version'],
] as const;

/** One row per first word: the summary of a single command, or the second words of several. */
function renderFamilies(commands: readonly Named[]): (readonly [string, string])[] {
  const families = Map.groupBy(commands, ({ name }) => name.split(' ', 1)[0] ?? '');
  return [...families].flatMap(([word, members]) => {
    const own = members.filter(({ name }) => name === word).map(({ summary }) => [word, summary] as const);
    const below = members.filter(({ name }) => name !== word);
    const [only] = below;
    if (only === undefined) return own;
    if (below.length === 1) return [...own, [only.name, only.summary] as const];
    return [...own, [`${word} …`, below.map(({ name }) => name.slice(word.length + 1)).join(', ')] as const];
  });
}

function renderCommands(title: string, commands: readonly Named[]): string {
  return renderColumns(
    title,
    commands.map(({ name, summary }) => [name, summary]),
  );
}

function joinSections(sections: readonly string[]): string {
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

export function renderUsage(commandName: string, command: CliCommand): string {
  const args = command.args.map(({ name, optional }) => (optional ? `[${name}]` : name));
  if (command.rest !== undefined) args.push(`[${command.rest.name}…]`);
  const options = command.options.map(({ name, value, needed }) => {
    const option = `--${name}${value === undefined ? '' : ` ${value}`}`;
    return needed === true ? option : `[${option}]`;
  });
  return ['baton', commandName, ...args, ...options].join(' ');
}

function optionText(name: string, short: string | undefined, value: string | undefined): string {
  const names = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  return value === undefined ? names : `${names} ${value}`;
}

function renderColumns(title: string, rows: readonly (readonly [string, string])[], minWidth = 0): string {
  if (rows.length === 0) return '';
  const width = Math.max(minWidth, ...rows.map(([name]) => name.length));
  return [`${title}:`, ...rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`)].join('\n');
}
