import { meantSuffix } from '../protocol/shape/problem.ts';
import type { CliCommand, Option, ParsedArguments } from './command.ts';

export type ParseResult =
  /** `notes` concern the command line, such as an old option name. `pager` is false after `--no-pager`. */
  | {
      readonly kind: 'given';
      readonly given: ParsedArguments;
      readonly notes: readonly string[];
      readonly pager?: false;
    }
  /** `args` are those before `--help`. */
  | { readonly kind: 'help'; readonly args: readonly string[] }
  | { readonly kind: 'usage'; readonly problem: string };

/** `--` ends the options. `-` alone is an argument. */
export function parseArgs(command: CliCommand, argv: readonly string[]): ParseResult {
  const args: string[] = [];
  const options = new Map<string, string>();
  const notes = new Set<string>();
  let pager: { pager?: false } = {};
  const queue = [...argv];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === '--') {
      args.push(...queue.splice(0));
    } else if (word === '-' || !word.startsWith('-')) {
      args.push(word);
    } else if (word === '--help' || word === '-h') {
      return { kind: 'help', args };
    } else if (word === '--no-pager') {
      pager = { pager: false };
    } else if (command.rest?.options === true && args.length > 0 && findOption(command, word) === undefined) {
      args.push(word);
    } else {
      const problem = parseOption(command, word, queue, { options, notes });
      if (problem !== undefined) return { kind: 'usage', problem };
    }
  }
  const problem = checkCount(command, args) ?? checkArgumentChoices(command, args);
  return problem === undefined
    ? { kind: 'given', given: { args, options }, notes: [...notes], ...pager }
    : { kind: 'usage', problem };
}

function parseOption(
  command: CliCommand,
  word: string,
  queue: string[],
  { options, notes }: { readonly options: Map<string, string>; readonly notes: Set<string> },
): string | undefined {
  const [typed = '', ...inline] = word.split('=');
  const option = findOption(command, word);
  if (option === undefined) return unknownOption(typed, command.options);
  if (option.formerly?.includes(typed) === true)
    notes.add(`${typed} is now --${option.name}; the next release no longer accepts ${typed} here`);
  if (option.value === undefined) {
    if (inline.length > 0) return `${typed} takes no value`;
    options.set(option.name, '');
    return undefined;
  }
  const value = inline.length > 0 ? inline.join('=') : queue.shift();
  if (value === undefined) return `${typed} needs a value: ${typed} ${option.value}`;
  const wrong = checkChoice(typed, value, option.choices);
  if (wrong !== undefined) return wrong;
  const before = option.isList === true ? options.get(option.name) : undefined;
  options.set(option.name, before === undefined ? value : `${before},${value}`);
  return undefined;
}

function findOption(command: CliCommand, word: string): Option | undefined {
  const [typed] = word.split('=');
  return command.options.find(
    ({ name, short, formerly }) =>
      typed === `--${name}` ||
      (short !== undefined && typed === `-${short}`) ||
      formerly?.includes(typed ?? '') === true,
  );
}

function unknownOption(typed: string, known: readonly Option[]): string {
  const names = known.map(({ name }) => `--${name}`);
  return `unknown option: ${typed}${meantSuffix(typed, names)}`;
}

function checkCount(command: CliCommand, args: readonly string[]): string | undefined {
  const missing = command.args.slice(args.length).find(({ optional }) => !optional);
  if (missing) return `missing argument: ${missing.name}`;
  if (command.rest !== undefined) return undefined;
  const extra = args[command.args.length];
  return extra === undefined ? undefined : `unexpected argument: ${extra}`;
}

function checkArgumentChoices(command: CliCommand, args: readonly string[]): string | undefined {
  for (const [i, { name, choices }] of command.args.entries()) {
    const value = args[i];
    const problem = value === undefined ? undefined : checkChoice(name, value, choices);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkChoice(what: string, value: string, choices: readonly string[] | undefined): string | undefined {
  if (choices === undefined || choices.includes(value)) return undefined;
  return `${what} must be one of ${choices.join(', ')}, not ${value}${meantSuffix(value, choices)}`;
}
