import type { PipelinePlan } from '../protocol/run-plan.ts';

/** The arguments of a command: `args = "<title> [body] --dry-run [--priority <n>]"`. */
export interface CommandArgs {
  readonly text: string;
  readonly positionals: readonly { readonly name: string; readonly required: boolean }[];
  readonly options: readonly CommandOption[];
}

export interface CommandOption {
  /** The name without dashes, which is also the name of the variable. */
  readonly name: string;
  /** The name of the option's value; null for a switch, which is `true` or empty. */
  readonly value: string | null;
  readonly required: boolean;
  /** Whether the option takes several values, separated by commas or in several options. */
  readonly isList?: boolean;
}

export const NO_ARGS: CommandArgs = { text: '', positionals: [], options: [] };

export interface ArgsFault {
  readonly what: string;
  readonly hint: string;
}

const NAME = '[A-Za-z][A-Za-z0-9_-]{0,63}';
const POSITIONAL = new RegExp(`^(?:<(${NAME})>|\\[(${NAME})\\])$`);
const SWITCH = new RegExp(`^(?:--(${NAME})|\\[--(${NAME})\\])$`);
const OPTION = new RegExp(`^--(${NAME}) +<(${NAME})>$`);
const OPTIONAL_OPTION = new RegExp(`^\\[--(${NAME}) +<(${NAME})>\\]$`);
/** One item: brackets with content, an option with its value, or a word. */
const ITEM = /\[[^\]]*\]?|--[^\s[\]<>]+ +<[^>\s]*>?|\S+/g;
const FORMS = 'Arguments are `<name>`, `[name]`, `--flag`, `--option <value>` and `[--option <value>]`.';

export function parseArgsDefinition(text: string): CommandArgs | ArgsFault {
  const positionals: { name: string; required: boolean }[] = [];
  const options: CommandOption[] = [];
  const taken = new Set<string>();
  for (const [item] of text.matchAll(ITEM)) {
    const positional = positionalOf(item);
    const option = positional === undefined ? optionOf(item) : undefined;
    const name = positional?.name ?? option?.name;
    if (name === undefined) return { what: `not an argument: ${item}`, hint: FORMS };
    if (taken.has(name)) return { what: `argument twice: ${name}`, hint: 'Give each argument a name of its own.' };
    taken.add(name);
    if (positional?.required && positionals.some(({ required }) => !required)) {
      const hint = 'Put required arguments first, so that the order is unambiguous.';
      return { what: `<${name}> comes after an optional argument`, hint };
    }
    if (positional !== undefined) positionals.push(positional);
    if (option !== undefined) options.push(option);
  }
  return { text: text.trim().replaceAll(/\s+/g, ' '), positionals, options };
}

function positionalOf(item: string): { name: string; required: boolean } | undefined {
  const [, required, optional] = POSITIONAL.exec(item) ?? [];
  const name = required ?? optional;
  return name === undefined ? undefined : { name, required: required !== undefined };
}

function optionOf(item: string): CommandOption | undefined {
  const flag = SWITCH.exec(item);
  if (flag !== null) return { name: flag[1] ?? flag[2] ?? '', value: null, required: false };
  const required = OPTION.exec(item);
  const found = required ?? OPTIONAL_OPTION.exec(item);
  return found === null ? undefined : { name: found[1] ?? '', value: found[2] ?? '', required: required !== null };
}

export function argumentNames({ positionals, options }: CommandArgs): string[] {
  return [...positionals, ...options].map(({ name }) => name);
}

/** The variables of a pipeline as options of `baton run`, required ones first. */
export function pipelineArgs({ vars }: Pick<PipelinePlan, 'vars'>): CommandArgs {
  const all = Object.entries(vars).map(([name, value]) => ({ name, value: name, required: value === null }));
  const options = [...all.filter(({ required }) => required), ...all.filter(({ required }) => !required)];
  const text = options.map(({ name, required }) => (required ? `--${name} <${name}>` : `[--${name} <${name}>]`));
  return { text: text.join(' '), positionals: [], options };
}
