import { findNearest, meantSuffix } from '../../protocol/shape/problem.ts';
import { EXIT, type Io, type ListedCommand } from '../command.ts';
import { findCommand } from './find-command.ts';
import { describeError, renderErrorJson, renderErrorLine } from '../problems.ts';
import { HELP_GROUPS } from './help-groups.ts';
import { printable } from '../text.ts';

interface UsageProblem {
  readonly message: string;
  /** The command line that was probably meant. */
  readonly meant?: string;
  readonly usage?: string;
  /** The command whose help explains the mistake; empty for `baton --help`. */
  readonly help: string;
}

/** Prints a usage error. With `--json` it is JSON, so that a program that reads the output gets it too. */
export function reportUsage({ message, meant, usage, help }: UsageProblem, argv: readonly string[], io: Io): number {
  const [didYouMean, seeHelp] = [`Did you mean: baton ${meant}`, `Try: baton ${help === '' ? '' : `${help} `}--help`];
  if (wantsJson(argv)) {
    const hint = meant === undefined ? seeHelp : didYouMean;
    io.out(renderErrorJson({ code: 'usage', message, hint }));
    return EXIT.usage;
  }
  const lines = [
    renderErrorLine({ code: 'usage', message: printable(message) }, io),
    ...(meant === undefined ? [] : [didYouMean]),
    ...(usage === undefined ? [] : [`Usage: ${usage}`]),
    seeHelp,
  ];
  io.err(lines.map((line) => `${line}\n`).join(''));
  return EXIT.usage;
}

/** Reports errors such as a full disk or a folder in place of a file: the reason, without a stack trace. */
export function reportUnexpected(error: unknown, argv: readonly string[], io: Io): number {
  const message = describeError(error);
  if (wantsJson(argv)) io.out(renderErrorJson({ code: 'unexpected', message, hint: '' }));
  else io.err(`${renderErrorLine({ code: 'unexpected', message: printable(message) }, io)}\n`);
  return EXIT.failed;
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes('--json');
}

/** Describes words that are no command, with the command, first word or help group that was probably meant. */
export function describeUnknown(argv: readonly string[], commands: readonly ListedCommand[]): UsageProblem {
  const words = argv.filter((word) => !word.startsWith('-') && word !== 'help');
  const [first, second] = words;
  if (first === undefined || argv[0]?.startsWith('-') === true) return describeOption(argv, words, commands);
  const names = commands.map(({ name }) => name);
  const families = new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ', 1)[0] ?? ''));
  const isFamily = families.has(first);
  const typed = (isFamily && second !== undefined ? [first, second] : [first]).map((word) => word || "''").join(' ');
  const meant = findMeant(first, second, { names, families: [...families] });
  const message = isFamily && second === undefined ? `${first} needs a command` : `unknown command: ${typed}`;
  return { message, ...(meant && { meant }), help: isFamily ? first : '' };
}

/** The first word is an option, and no command comes before it. */
function describeOption(
  argv: readonly string[],
  words: readonly string[],
  commands: readonly ListedCommand[],
): UsageProblem {
  const [typed = ''] = argv;
  const command = findCommand(words, commands);
  if (command === undefined)
    return { message: `unknown option: ${typed}${meantSuffix(typed, ['--help', '--version'])}`, help: '' };
  const options = argv.filter((word) => word.startsWith('-'));
  const message = `${typed} comes after the command`;
  return { message, meant: [...words, ...options].join(' '), help: command.name };
}

/** For `baton web kyes`: the first word is a command, and the second probably belongs to a longer one. */
export function findMeantBelow(
  command: string,
  argv: readonly string[],
  commands: readonly ListedCommand[],
): string | undefined {
  const below = commands.map(({ name }) => name).filter((name) => name.startsWith(`${command} `));
  const next = argv[command.split(' ').length] ?? '';
  const nearest = findNearest(
    next,
    below.map((name) => name.slice(command.length + 1)),
  );
  return nearest === undefined ? undefined : `${command} ${nearest}`;
}

/** Either word may be wrong, or both. */
function findMeant(
  first: string,
  second: string | undefined,
  { names, families }: Readonly<Record<'names' | 'families', readonly string[]>>,
): string | undefined {
  const command =
    (second === undefined ? undefined : findNearest(`${first} ${second}`, names)) ?? findNearest(first, names);
  if (command !== undefined) return command;
  const family = families.includes(first) ? first : findNearest(first, families);
  const below = names.filter((name) => name.startsWith(`${family} `));
  const seconds = below.map((name) => name.slice(name.indexOf(' ') + 1));
  // An existing second word is kept: `baton list` probably does not mean `baton task list`, but `baton task ls` does.
  const nearest = second === undefined ? undefined : findNearest(second, seconds);
  if (family !== undefined) return nearest === undefined ? `${family} --help` : `${family} ${nearest}`;
  const group = findNearest(
    first,
    HELP_GROUPS.map(({ name }) => name),
  );
  return group === undefined ? undefined : `help ${group}`;
}
