import type { CliCommand, ListedCommand } from './command.ts';

type Named = Pick<ListedCommand, 'name' | 'summary'>;

/** Opens with examples: most readers look for one. */
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
    ]),
    renderColumns('Exit codes', Object.entries(command.exitCodes ?? {})),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** All commands, or those whose first word is `prefix`. */
export function renderOverviewHelp(commands: readonly Named[], prefix: string): string {
  const chosen = commands.filter(({ name }) => prefix === '' || name.startsWith(`${prefix} `));
  const sections = [
    prefix === ''
      ? '  baton run issue "Add a login page"\n  baton status --watch'
      : `  baton ${chosen[0]?.name ?? prefix} --help`,
    'Baton is a control plane for coding agents: it starts them, decides whether they may stop, and passes their work on.',
    `Usage: baton ${prefix === '' ? '' : `${prefix} `}COMMAND [arguments] [options]`,
    renderColumns(
      'Commands',
      chosen.map(({ name, summary }) => [name, summary]),
    ),
    renderColumns('Options', [
      ['-h, --help', 'Show help; after a command, its help'],
      ['-V, --version', 'Show the version'],
    ]),
  ];
  return `${sections.join('\n\n')}\n`;
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

function renderColumns(title: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return '';
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${title}:`, ...rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`)].join('\n');
}
