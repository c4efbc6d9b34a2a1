import type { Answer, ApiError, FileProblem } from '../api/answer.ts';
import type { OperationName, ResultOf } from '../api/operations/registry.ts';
import { type Argument, type CliCommand, EXIT, type Io, type Option, type ParsedArguments } from './command.ts';
import { renderProblem } from './problems.ts';
import { printable, printableLines } from './text.ts';

/** A command that calls one operation of the daemon. */
export interface OperationCommandOptions<N extends OperationName> {
  readonly name: string;
  readonly summary: string;
  readonly examples: CliCommand['examples'];
  readonly args?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly operation: N | ((given: ParsedArguments) => N);
  /** The operation's input, made from the command line. */
  readonly input: (given: ParsedArguments, io: Io) => CommandInput | Promise<CommandInput>;
  /** A call that must succeed first. */
  readonly before?: (given: ParsedArguments) => FirstCall | undefined;
  /** A second call that depends on the first result; its result is added to the first. */
  readonly also?: (result: ResultOf<N>, given: ParsedArguments) => SecondCall | undefined;
  /** Runs while the command waits for the answer. */
  readonly meanwhile?: (given: ParsedArguments, io: Io) => Disposable | undefined;
  /** The result for people; `--json` prints it as it is. */
  readonly show: (result: ResultOf<N>, given: ParsedArguments) => string;
  /** If success has more than one code. */
  readonly exitCode?: (result: ResultOf<N>) => number;
  readonly exitCodes?: CliCommand['exitCodes'];
}

export type FirstCall = { readonly operation: OperationName; readonly input: object } | { readonly usage: string };

export interface SecondCall {
  readonly operation: OperationName;
  readonly token: string;
  /** Undoes the first call if the second fails. */
  readonly undo: { readonly operation: OperationName; readonly input: object };
}

/** `usage` is a mistake in the command line, `invalid` one in what it names, with everything that is wrong there. */
export type CommandInput = { readonly value: unknown } | { readonly usage: string } | { readonly invalid: string };

/** The options of every command that asks the daemon. */
export const COMMON_OPTIONS: readonly Option[] = [
  { name: 'json', about: 'Print the result as JSON' },
  { name: 'project', value: 'DIR', about: 'Another repository than the one around the current folder' },
  { name: 'token', value: 'TOKEN', about: 'Act under this claim; BATON_TOKEN does the same' },
];

export function operationCommand<const N extends OperationName>(options: OperationCommandOptions<N>): CliCommand {
  return {
    name: options.name,
    summary: options.summary,
    examples: options.examples,
    args: options.args ?? [],
    options: [...(options.options ?? []), ...COMMON_OPTIONS],
    ...(options.exitCodes === undefined ? {} : { exitCodes: options.exitCodes }),
    async run(given, io) {
      const input = await options.input(given, io);
      const first = options.before?.(given);
      if ('usage' in input) return reportMisuse(input.usage, options.name, io);
      if (first !== undefined && 'usage' in first) return reportMisuse(first.usage, options.name, io);
      if ('invalid' in input) {
        io.err(input.invalid);
        return EXIT.failed;
      }
      const conflict = findConflict(given, io);
      if (conflict !== undefined) {
        io.err(`Error: ${conflict}\n`);
        return EXIT.usage;
      }
      const operation = typeof options.operation === 'string' ? options.operation : options.operation(given);
      const { callOperation: ask } = await import('./ask.ts');
      if (first !== undefined) {
        const accepted = await ask(first.operation, first.input, given, io);
        if (!accepted.ok) return reportError(accepted.error, given, io);
      }
      const answer = await callBeside(options.meanwhile?.(given, io), async () =>
        ask(operation, input.value, given, io),
      );
      const next = answer.ok ? options.also?.(answer.result, given) : undefined;
      if (next === undefined) return reportAnswer(answer, given, io, options);
      const second = await ask(next.operation, {}, withToken(given, next.token), io);
      if (!second.ok) await ask(next.undo.operation, next.undo.input, withToken(given, next.token), io);
      return reportAnswer(combineAnswers(answer, second), given, io, options);
    },
  };
}

function reportMisuse(problem: string, name: string, io: Io): number {
  io.err(`Error: ${printable(problem)}\nTry: baton ${name} --help\n`);
  return EXIT.usage;
}

async function callBeside<A>(beside: Disposable | undefined, question: () => Promise<A>): Promise<A> {
  using _beside = beside;
  return await question();
}

function withToken({ args, options }: ParsedArguments, token: string): ParsedArguments {
  return { args, options: new Map([...options, ['token', token]]) };
}

function combineAnswers<R>(first: Answer<R>, second: Answer): Answer<R> {
  if (!first.ok || !second.ok) return second.ok ? first : second;
  return { ok: true, result: Object.assign({}, first.result, second.result) };
}

function reportAnswer<N extends OperationName>(
  answer: Answer<ResultOf<N>>,
  given: ParsedArguments,
  io: Io,
  { show, exitCode }: OperationCommandOptions<N>,
): number {
  if (!answer.ok) return reportError(answer.error, given, io);
  io.out(given.options.has('json') ? `${JSON.stringify(answer.result)}\n` : show(answer.result, given));
  return exitCode?.(answer.result) ?? EXIT.ok;
}

/** What went wrong, in the form that was asked for. */
export function reportError(error: ApiError, given: ParsedArguments, io: Io): number {
  const { code, message, hint } = error;
  if (code === 'kept') return reportKept(error, given, io);
  const isOver = CLAIM_OVER_CODES.has(code) && !given.options.has('token') && isClaimToken(io.env['BATON_TOKEN']);
  const hints = [
    hint,
    isOver ? 'The claim of this BATON_TOKEN has ended; a person goes on in a terminal outside the session' : '',
  ];
  const lines = hints.filter((text) => text !== '').map((text) => `  hint: ${printable(text)}\n`);
  if (given.options.has('json')) io.out(`${JSON.stringify({ error })}\n`);
  else if (error.problems !== undefined && error.problems.length > 0) io.err(describeProblems(error.problems));
  else io.err(`Error: ${printableLines(message)}\n${lines.join('')}`);
  return USAGE_CODES.has(code) ? EXIT.usage : EXIT.failed;
}

/** Usage errors: the user can correct the command. */
const USAGE_CODES: ReadonlySet<string> = new Set(['runbook/usage', 'no-checks']);

/** The call is on disk and will be delivered: a script that sends it need not send it again. */
function reportKept({ message, hint }: ApiError, given: ParsedArguments, io: Io): number {
  if (given.options.has('json')) io.out(`${JSON.stringify({ kept: true, message, hint })}\n`);
  else io.err(`Note: ${printableLines(message)}\n  ${printable(hint)}\n`);
  return EXIT.ok;
}

/** One after the other, each with its place and its hint. */
function describeProblems(problems: readonly FileProblem[]): string {
  const shown = problems.slice(0, SHOWN_PROBLEMS).map((each) => renderProblem(each, each.file, ''));
  const left = problems.length - shown.length;
  return `${shown.join('')}${left > 0 ? `${left} more. ` : ''}See them where they stand: baton runbook check\n`;
}

const SHOWN_PROBLEMS = 20;

/** Codes that mean: the claim that speaks here is over. */
const CLAIM_OVER_CODES: ReadonlySet<string> = new Set(['claim-ended', 'stale-claim', 'no-active-phase']);

/** The token of a claim names its repository; another one beside it would not be heard. */
function findConflict({ options }: ParsedArguments, { env }: Io): string | undefined {
  if (!options.has('project') || !isClaimToken(options.get('token') ?? env['BATON_TOKEN'])) return undefined;
  const leave = options.has('token') ? 'leave --token or --project out' : 'leave --project out';
  return `the token of a claim names its own repository: ${leave}`;
}

function isClaimToken(token: string | undefined): boolean {
  return token?.startsWith('s.') === true;
}

/** An option that must be a number. */
export function numberOption(
  { options }: ParsedArguments,
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
export function pickOptions(
  { options }: ParsedArguments,
  names: Readonly<Record<string, string>>,
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [option, field] of Object.entries(names)) {
    const value = options.get(option);
    if (value !== undefined) picked[field] = value;
  }
  return picked;
}

/** A person who works alone approves their own change: recorded first, then the command itself is judged with it. */
export const SELF_APPROVE_OPTION: Option = {
  name: 'self-approve',
  value: 'REASON',
  about: 'Operators only: approve a change of your own; the reason is recorded',
};

export function selfApprovalCall(taskId: string | undefined, { options }: ParsedArguments): FirstCall | undefined {
  const reason = options.get(SELF_APPROVE_OPTION.name);
  if (reason === undefined) return undefined;
  if (taskId === undefined) return { usage: '--self-approve needs the task: name its ID' };
  return { operation: 'task_self_approve', input: { task_id: taskId, reason } };
}
