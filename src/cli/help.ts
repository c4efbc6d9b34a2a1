import type { CliCommand } from './command.ts';

/** The help of one command. It opens with an example, since that is what most people came for. */
export function renderCommandHelp(command: CliCommand): string {
  const sections = [
    command.examples.map((example) => `  ${example}`).join('\n'),
    `${command.summary}.`,
    `Usage: ${renderUsage(command)}`,
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

/** What `baton` has to offer, or the part of it that begins with one word. */
export function renderOverviewHelp(
  commands: readonly { readonly name: string; readonly summary: string }[],
  prefix = '',
): string {
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
      ['-h, --help', 'Show help; after a command, that of the command'],
      ['-V, --version', 'Show the version'],
    ]),
  ];
  return `${sections.join('\n\n')}\n`;
}

export function renderUsage(command: CliCommand): string {
  const args = command.args.map(({ name, optional }) => (optional ? `[${name}]` : name));
  if (command.rest !== undefined) args.push(`[${command.rest.name}…]`);
  const options = command.options.map(({ name, value, needed }) => {
    const option = `--${name}${value === undefined ? '' : ` ${value}`}`;
    return needed === true ? option : `[${option}]`;
  });
  return ['baton', command.name, ...args, ...options].join(' ');
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
