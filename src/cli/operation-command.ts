import type { Answer, ApiError, FileProblem } from '../api/answer.ts';
import type { OperationName, ResultOf } from '../api/operations/registry.ts';
import { type CliCommand, EXIT, type Io, type Option, type ParsedArguments, type UsageError } from './command.ts';
import type { JsonDocument } from './json-output.ts';
import { printLong } from './pager.ts';
import { renderErrorJson, renderErrorLine, renderProblem, reportProblems } from './problems.ts';
import { printable, printableLines } from './text.ts';

export interface OperationCommandOptions<N extends OperationName>
  extends Pick<CliCommand, 'examples' | 'exitCodes'>, Partial<Pick<CliCommand, 'args' | 'options'>> {
  readonly operation: N | ((given: ParsedArguments) => N);
  readonly input: (given: ParsedArguments, io: Io) => CommandInput | Promise<CommandInput>;
  /** The output of `--json`, if it is more than the result of `operation`. */
  readonly json?: readonly JsonDocument[];
  /** A first call that must succeed. */
  readonly before?: (given: ParsedArguments) => FirstCall | undefined;
  /** A second call that depends on the first result. Its result is added to the first. */
  readonly also?: (result: ResultOf<N>, given: ParsedArguments) => SecondCall | undefined;
  /** Runs while the command waits for the answer. */
  readonly meanwhile?: (given: ParsedArguments, io: Io) => Disposable | undefined;
  /** The input is a message that its author wrote, as in `validate`: if it is not valid, the command fails. */
  readonly sendsMessage?: true;
  /** Renders the result without `--json`. */
  readonly show: (result: ResultOf<N>, given: ParsedArguments, io: Io) => string;
  readonly exitCode?: (result: ResultOf<N>) => number;
}

export type FirstCall = { readonly operation: OperationName; readonly input: object } | UsageError;

interface SecondCall {
  readonly operation: OperationName;
  readonly token: string;
  /** The call that undoes the first one if the second fails. */
  readonly undo: { readonly operation: OperationName; readonly input: object };
}

export type CommandInput = { readonly value: unknown } | UsageError | InvalidInput;

/** The errors of the file on the command line, and its text. */
export interface InvalidInput {
  readonly invalid: readonly FileProblem[];
  readonly source: string;
}

export const JSON_OPTION: Option = { name: 'json', about: 'Print the result as JSON' };
export const PROJECT_OPTION: Option = {
  name: 'project',
  value: 'DIR',
  about: 'Use this repository instead of the one around the current folder',
};

export const COMMON_OPTIONS: readonly Option[] = [
  JSON_OPTION,
  PROJECT_OPTION,
  { name: 'token', value: 'TOKEN', about: 'Act under the claim of this token (default: BATON_TOKEN)' },
];

export function operationCommand<const N extends OperationName>(options: OperationCommandOptions<N>): CliCommand {
  const { examples, args = [], exitCodes } = options;
  const operationFor = (given: ParsedArguments): N =>
    typeof options.operation === 'string' ? options.operation : options.operation(given);
  const operation = operationFor({ args: [], options: new Map() });
  return {
    examples,
    args,
    operation,
    json: options.json ?? [{ result: operation }],
    options: [...(options.options ?? []), ...COMMON_OPTIONS],
    ...(exitCodes === undefined ? {} : { exitCodes }),
    async run(given, io) {
      const input = await options.input(given, io);
      const first = options.before?.(given);
      if ('usage' in input) return input;
      if (first !== undefined && 'usage' in first) return first;
      if ('invalid' in input) {
        return reportProblems(input.invalid, input.source, io);
      }
      const conflict = findConflict(given, io);
      if (conflict !== undefined) {
        return { usage: conflict };
      }
      const { callOperation } = await import('./ask.ts');
      if (first !== undefined) {
        const accepted = await callOperation(first.operation, first.input, given, io);
        if (!accepted.ok) return reportError(accepted.error, given, io);
      }
      const answer = await callBeside(options.meanwhile?.(given, io), async () =>
        callOperation(operationFor(given), input.value, given, io),
      );
      const next = answer.ok ? options.also?.(answer.result, given) : undefined;
      if (next === undefined) return reportAnswer(answer, given, io, options);
      const second = await callOperation(next.operation, {}, withToken(given, next.token), io);
      if (!second.ok) await callOperation(next.undo.operation, next.undo.input, withToken(given, next.token), io);
      return reportAnswer(combineAnswers(answer, second), given, io, options);
    },
  };
}

async function callBeside<A>(beside: Disposable | undefined, call: () => Promise<A>): Promise<A> {
  using _beside = beside;
  return await call();
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
  { show, exitCode, sendsMessage }: OperationCommandOptions<N>,
): number {
  if (!answer.ok) {
    const code = reportError(answer.error, given, io);
    return sendsMessage === true ? Math.min(code, EXIT.failed) : code;
  }
  const { result, store } = answer;
  if (given.options.has('json'))
    io.out(`${JSON.stringify(store === undefined ? result : Object.assign({}, result, { store }))}\n`);
  else printLong(show(result, given, io), io);
  if (store !== undefined && !given.options.has('json')) io.err(describeAge(store.away_since));
  return exitCode?.(answer.result) ?? EXIT.ok;
}

/** Warns that the result is old, because the database is unavailable. */
function describeAge(since: string): string {
  const time = new Date(since).toTimeString().slice(0, 8);
  return `Note: as of ${time}; the database cannot be reached since ${since}, and other hosts may have continued. See: baton status\n`;
}

export function reportError(error: ApiError, given: ParsedArguments, io: Io): number {
  const { code, message, hint } = error;
  if (code === 'kept') return reportKept(error, given, io);
  const isOver = CLAIM_OVER_CODES.has(code) && !given.options.has('token') && isClaimToken(io.env['BATON_TOKEN']);
  const over = 'The claim of this BATON_TOKEN has ended; continue in a terminal outside the session';
  const hints = [hint, isOver ? over : ''].filter((text) => text !== '');
  if (given.options.has('json')) io.out(renderErrorJson(error));
  else if (error.problems !== undefined && error.problems.length > 0) io.err(describeProblems(error.problems, io));
  else {
    const line = renderErrorLine({ code, message: printableLines(message) }, io);
    io.err(`${line}\n${hints.map((text) => `  hint: ${printable(text)}\n`).join('')}`);
  }
  if (code === 'rules-loosened') return EXIT.waiting;
  return USAGE_CODES.has(code) ? EXIT.usage : EXIT.failed;
}

/** Usage errors: the user can correct the command. */
const USAGE_CODES: ReadonlySet<string> = new Set(['bad-request', 'runbook/usage', 'no-checks']);

/** The call is stored on disk and will be delivered. This counts as success, so the caller need not repeat it. */
function reportKept({ message, hint }: ApiError, given: ParsedArguments, io: Io): number {
  if (given.options.has('json')) io.out(`${JSON.stringify({ kept: true, message, hint })}\n`);
  else io.err(`Note: ${printableLines(message)}\n  ${printable(hint)}\n`);
  return EXIT.ok;
}

function describeProblems(problems: readonly FileProblem[], io: Io): string {
  const shown = problems.slice(0, SHOWN_PROBLEMS).map((each) => renderProblem(each, each.file, '', io));
  const left = problems.length - shown.length;
  return `${shown.join('')}${left > 0 ? `${left} more. ` : ''}See them in the files: baton runbook check\n`;
}

const CLAIM_OVER_CODES: ReadonlySet<string> = new Set(['claim-ended', 'stale-claim', 'no-active-phase']);

/** A claim's token names its repository, so `--project` would have no effect. */
function findConflict({ options }: ParsedArguments, { env }: Io): string | undefined {
  if (!options.has('project') || !isClaimToken(options.get('token') ?? env['BATON_TOKEN'])) return undefined;
  const leave = options.has('token') ? 'leave --token or --project out' : 'leave --project out';
  return `the token of a claim names its own repository: ${leave}`;
}

function isClaimToken(token: string | undefined): boolean {
  return token?.startsWith('s.') === true;
}

export function numberOption({ options }: ParsedArguments, name: string): { readonly value?: number } | UsageError {
  const text = options.get(name);
  if (text === undefined) return {};
  const value = Number(text);
  return /^-?\d+(\.\d+)?$/.test(text) && Number.isFinite(value)
    ? { value }
    : { usage: `--${name} must be a number, not ${text}` };
}

/** A whole number within limits. */
export function wholeOption(
  given: ParsedArguments,
  name: string,
  { from, to = Infinity }: { readonly from: number; readonly to?: number },
): { readonly value?: number } | UsageError {
  const text = given.options.get(name);
  if (text === undefined) return {};
  const value = /^-?\d+$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(value) && value >= from && value <= to) return { value };
  const range = to === Infinity ? `from ${from}` : `from ${from} to ${to}`;
  return { usage: `--${name} must be a whole number ${range}, not ${text}` };
}

export function pickOptions(
  { options }: ParsedArguments,
  names: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([option, field]) => {
      const value = options.get(option);
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** For people who work alone. The approval is recorded first, so that the command itself sees it. */
export const SELF_APPROVE_OPTION: Option = {
  name: 'self-approve',
  value: 'REASON',
  about: 'Operators only: approve your own change; the reason is recorded',
};

export function selfApprovalCall(taskId: string | undefined, { options }: ParsedArguments): FirstCall | undefined {
  const reason = options.get(SELF_APPROVE_OPTION.name);
  if (reason === undefined) return undefined;
  if (taskId === undefined) return { usage: '--self-approve needs the task: name its ID' };
  return { operation: 'task_self_approve', input: { task_id: taskId, reason } };
}

const SHOWN_PROBLEMS = 20;
