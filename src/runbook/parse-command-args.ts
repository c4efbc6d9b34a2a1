import { accepted, didYouMean, type Parsed, problem, quote, refused, type Refused } from '../protocol/shape/problem.ts';
import { argumentNames, type CommandOption } from './command-args.ts';
import type { CommandDefinition } from './runbook.ts';

/**
 * Parses the arguments of a command. Every defined name gets a value: an omitted one is empty, a switch is `true` or
 * empty. `--` ends the options.
 */
export function parseCommandArgs(
  command: Pick<CommandDefinition, 'name' | 'args'>,
  argv: readonly string[],
): Parsed<Record<string, string>> {
  const { positionals, options } = command.args;
  const given: string[] = [];
  const values = new Map<string, string>();
  const queue = [...argv];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === '--') given.push(...queue.splice(0));
    else if (!word.startsWith('--')) given.push(word);
    else {
      const wrong = parseOption(word, queue, options, values);
      if (wrong !== undefined) return usage(command, wrong.what, wrong.hint);
    }
  }
  const extra = given[positionals.length];
  if (extra !== undefined) return usage(command, `unexpected argument: ${quote(extra)}`);
  const missing = positionals.slice(given.length).find(({ required }) => required);
  if (missing !== undefined) return usage(command, `missing argument: <${missing.name}>`);
  const owed = options.find(({ name, required }) => required && !values.has(name));
  if (owed !== undefined) return usage(command, `missing option: --${owed.name} <${owed.value ?? ''}>`);
  for (const [index, { name }] of positionals.entries()) values.set(name, given[index] ?? '');
  return accepted(Object.fromEntries(argumentNames(command.args).map((name) => [name, values.get(name) ?? ''])));
}

function parseOption(
  word: string,
  queue: string[],
  options: readonly CommandOption[],
  values: Map<string, string>,
): { readonly what: string; readonly hint?: string | undefined } | undefined {
  const [typed = '', ...inline] = word.slice(2).split('=');
  const option = options.find(({ name }) => name === typed);
  if (option === undefined) {
    const known = options.map(({ name }) => `--${name}`);
    return { what: `unknown option: --${quote(typed)}`, hint: didYouMean(`--${typed}`, known) };
  }
  const before = option.isList === true ? values.get(option.name) : undefined;
  if (values.has(option.name) && before === undefined) return { what: `--${option.name} is given twice` };
  if (option.value === null) {
    if (inline.length > 0) return { what: `--${option.name} takes no value` };
    values.set(option.name, 'true');
    return undefined;
  }
  const value = inline.length > 0 ? inline.join('=') : queue.shift();
  if (value === undefined) return { what: `--${option.name} needs a value: --${option.name} <${option.value}>` };
  values.set(option.name, before === undefined ? value : `${before},${value}`);
  return undefined;
}

function usage(command: Pick<CommandDefinition, 'name' | 'args'>, what: string, hint?: string): Refused {
  const line = `Usage: ${renderCommandUsage(command)}`;
  return refused(problem('runbook/usage', what, hint === undefined ? line : `${hint} ${line}`));
}

export function renderCommandUsage({ name, args }: Pick<CommandDefinition, 'name' | 'args'>): string {
  return `baton run ${name}${args.text === '' ? '' : ` ${args.text}`}`;
}
