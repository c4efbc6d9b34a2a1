import type { Answer, ApiError } from '../api/answer.ts';
import type { Argument, Command, Given, Io, Option } from './command.ts';
import { EXIT } from './command.ts';
import { printable } from './printable.ts';

/** What a command that asks one operation of the daemon consists of. */
export interface OperationCommand {
  readonly name: string;
  readonly summary: string;
  readonly examples: Command['examples'];
  readonly args?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly operation: string | ((given: Given) => string);
  /** What was typed, as the operation's input; a text is an error of usage. */
  readonly input: (given: Given, io: Io) => Input | Promise<Input>;
  /** A second question that follows from the first answer; what comes back is added to the result. */
  readonly also?: (result: unknown, given: Given) => Also | undefined;
  /** The result for people; `--json` prints it as it is. */
  readonly show: (result: unknown, given: Given) => string;
  /** Where success has more than one code. */
  readonly exitCode?: (result: unknown) => number;
  readonly exitCodes?: Command['exitCodes'];
}

export interface Also {
  readonly operation: string;
  readonly token: string;
  /** What takes the first back where the second fails: nobody should be left with half of what they asked for. */
  readonly undo: { readonly operation: string; readonly input: object };
}

export type Input = { readonly value: unknown } | { readonly usage: string };

/** The options of every command that asks the daemon. */
export const COMMON: readonly Option[] = [
  { name: 'json', about: 'Print the result as JSON' },
  { name: 'project', value: 'DIR', about: 'Another repository than the one around the current folder' },
  { name: 'token', value: 'TOKEN', about: 'Act under this claim; BATON_TOKEN does the same' },
];

export function operationCommand(options: OperationCommand): Command {
  return {
    name: options.name,
    summary: options.summary,
    examples: options.examples,
    args: options.args ?? [],
    options: [...(options.options ?? []), ...COMMON],
    ...(options.exitCodes === undefined ? {} : { exitCodes: options.exitCodes }),
    async run(given, io) {
      const input = await options.input(given, io);
      if ('usage' in input) {
        io.err(`Error: ${printable(input.usage)}\nTry: baton ${options.name} --help\n`);
        return EXIT.usage;
      }
      const operation = typeof options.operation === 'string' ? options.operation : options.operation(given);
      const { ask } = await import('./ask.ts');
      const answer = await ask(operation, input.value, given, io);
      const next = answer.ok ? options.also?.(answer.result, given) : undefined;
      if (next === undefined) return report(answer, given, io, options);
      const second = await ask(next.operation, {}, withToken(given, next.token), io);
      if (!second.ok) await ask(next.undo.operation, next.undo.input, withToken(given, next.token), io);
      return report(joined(answer, second), given, io, options);
    },
  };
}

function withToken({ args, options }: Given, token: string): Given {
  return { args, options: new Map([...options, ['token', token]]) };
}

function joined(first: Answer, second: Answer): Answer {
  if (!first.ok || !second.ok) return second;
  return { ok: true, result: Object.assign({}, first.result, second.result) };
}

function report(answer: Answer, given: Given, io: Io, { show, exitCode }: OperationCommand): number {
  if (!answer.ok) return reportError(answer.error, given, io);
  io.out(given.options.has('json') ? `${JSON.stringify(answer.result)}\n` : show(answer.result, given));
  return exitCode?.(answer.result) ?? EXIT.ok;
}

/** What went wrong, in the form that was asked for. */
export function reportError(error: ApiError, given: Given, io: Io): number {
  const { message, hint } = error;
  if (given.options.has('json')) io.out(`${JSON.stringify({ error })}\n`);
  else io.err(`Error: ${printable(message)}\n${hint === '' ? '' : `  hint: ${printable(hint)}\n`}`);
  return EXIT.failed;
}

/** An option that must be a number. */
export function numberOption(
  { options }: Given,
  name: string,
): { readonly value?: number } | { readonly usage: string } {
  const text = options.get(name);
  if (text === undefined) return {};
  const value = Number(text);
  return /^-?\d+(\.\d+)?$/.test(text) && Number.isFinite(value)
    ? { value }
    : { usage: `--${name} must be a number, not ${text}` };
}

/** The options that were given, under the names that the operation has for them. */
export function pick({ options }: Given, names: Readonly<Record<string, string>>): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [option, field] of Object.entries(names)) {
    const value = options.get(option);
    if (value !== undefined) picked[field] = value;
  }
  return picked;
}
