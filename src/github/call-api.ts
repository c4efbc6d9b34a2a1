import { spawn } from 'node:child_process';
import { findProgram } from '../notify/run-program.ts';
import { problem, type Problem } from '../protocol/shape/problem.ts';
import { fieldOf, findText } from '../protocol/shape/read-unknown.ts';

export type GithubResult<T> = { readonly ok: true; readonly value: T } | GithubFailure;

export interface GithubFailure {
  readonly ok: false;
  readonly problem: Problem;
  /** The HTTP status; undefined if GitHub was not reached. */
  readonly status?: number;
  /** A retry may succeed: the cause was the network, an error at GitHub, or a rate limit. */
  readonly isPassing: boolean;
}

/** Calls the API through `gh api`, which has the user's login and host settings. */
export async function callApi(request: ApiRequest, context: ApiContext): Promise<GithubResult<unknown>> {
  const program = findProgram('gh', context.env);
  if (program === undefined) {
    return githubFailure(
      'github/no-gh',
      'gh, the command line of GitHub, is not on the PATH of the daemon',
      NO_GH_HINT,
    );
  }
  const ran = await runGh(program, request, context);
  const answer = ANSWER.exec(ran.out);
  if (answer === null) return unanswered(ran, request);
  const [head, status = ''] = answer;
  return readAnswer(Number(status), head, ran.out.slice(head.length), request);
}

const NO_GH_HINT =
  'Install gh (https://cli.github.com), log in (gh auth login), and restart the daemon: baton down. Or set `pull_requests = false` under [github] in baton.toml.';

/** The status line ends with LF, each header with CRLF, and an empty line precedes the body. */
const ANSWER = /^HTTP\/\S+ (\d{3})[^\n]*\n(?:[^\r\n]+\r?\n)*\r?\n/;

function readAnswer(status: number, head: string, text: string, request: ApiRequest): GithubResult<unknown> {
  let body: unknown;
  try {
    body = text.trim() === '' ? null : JSON.parse(text);
  } catch {
    const what = `GitHub answered ${status} with a body that is not JSON`;
    return githubFailure('github/unreachable', what, RETRY, { status, isPassing: true });
  }
  const message = messageIn(body);
  // GraphQL reports errors with a successful status.
  if (status < 300 && request.path === 'graphql' && message !== undefined)
    return githubFailure('github/refused', `GitHub refused: ${message}`, CHECK_ACCESS_HINT, { status });
  if (status < 300) return { ok: true, value: body };
  const what = `${request.method} ${request.path.split('?', 1)[0] ?? ''}: ${status}${message === undefined ? '' : ` ${message}`}`;
  if (status === 401)
    return githubFailure('github/not-logged-in', `GitHub refused the login: ${what}`, LOG_IN_HINT, { status });
  const passing = { status, isPassing: true };
  if (status === 429 || (status === 403 && isLimit(message ?? '', head)))
    return githubFailure('github/rate-limited', `GitHub's rate limit is reached: ${what}`, RETRY, passing);
  if (status >= 500) return githubFailure('github/unreachable', `GitHub reports an error: ${what}`, RETRY, passing);
  return githubFailure('github/refused', `GitHub refused: ${what}`, CHECK_ACCESS_HINT, { status });
}

function isLimit(message: string, head: string): boolean {
  return /rate limit/i.test(message) || /^x-ratelimit-remaining: 0\r?$/im.test(head);
}

const LOG_IN_HINT =
  'Log in: gh auth login (where a token of the environment is wrong: correct it, then baton down). Or do without pull requests: `pull_requests = false` under [github] in baton.toml.';
const RETRY = 'Try again later: baton decision list. See https://www.githubstatus.com.';
const CHECK_ACCESS_HINT = 'Check the permissions: gh auth status, and the settings of the repository.';

function unanswered({ code, err }: GhResult, { host }: ApiRequest): GithubFailure {
  const message = err.trim().split('\n').slice(0, 3).join(' ').slice(0, 500);
  if (code === NOT_LOGGED_IN || /gh auth login|GH_TOKEN|authentication token/i.test(err)) {
    const what = `gh is not logged in to ${host}${message === '' ? '' : `: ${message}`}`;
    return githubFailure('github/not-logged-in', what, LOG_IN_HINT);
  }
  const what = `GitHub cannot be reached: ${message === '' ? `gh ended with ${code ?? 'a signal'}` : message}`;
  return githubFailure('github/unreachable', what, 'Check the network: gh api user', { isPassing: true });
}

const NOT_LOGGED_IN = 4;

function messageIn(body: unknown): string | undefined {
  const [message, errors] = [findText(fieldOf(body, 'message')), fieldOf(body, 'errors')];
  const found: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const details = found.map((each) => findText(each) ?? findText(fieldOf(each, 'message')) ?? '');
  const parts = [message ?? '', ...details].filter((each) => each !== '');
  return message === undefined && parts.length === 0 ? undefined : parts.join(': ').slice(0, 500);
}

export function githubFailure(
  code: string,
  message: string,
  hint: string,
  { status, isPassing = false }: { readonly status?: number; readonly isPassing?: boolean } = {},
): GithubFailure {
  return { ok: false, problem: problem(code, message, hint), isPassing, ...(status === undefined ? {} : { status }) };
}

export interface ApiRequest {
  readonly host: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** Without a leading slash; `graphql` if REST lacks the function. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface ApiContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signal?: AbortSignal;
}

interface GhResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `gh api` without a shell and without prompts; the body goes to its standard input. */
async function runGh(program: string, request: ApiRequest, context: ApiContext): Promise<GhResult> {
  const { host, method, path, body } = request;
  const args = ['api', '--include', '--hostname', host, '--method', method, ...HEADERS];
  const input = body === undefined ? [] : ['--input', '-'];
  return new Promise((resolve) => {
    const { cwd, signal } = context;
    const child = spawn(program, [...args, ...input, path], {
      cwd,
      env: { ...context.env, ...QUIET },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: CALL_MS,
      killSignal: 'SIGKILL',
      ...(signal === undefined ? {} : { signal }),
    });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    let size = 0;
    const keep = (pieces: Buffer[]) => (piece: Buffer) => {
      size += piece.length;
      if (size <= MOST_BYTES) pieces.push(piece);
      else child.kill('SIGKILL');
    };
    child.stdout.on('data', keep(out));
    child.stderr.on('data', keep(err));
    child.stdin.on('error', () => undefined);
    child.stdin.end(body === undefined ? '' : JSON.stringify(body));
    child.once('error', (error) => resolve({ code: null, out: '', err: error.message }));
    child.once('close', (code) =>
      resolve({ code, out: Buffer.concat(out).toString('utf8'), err: Buffer.concat(err).toString('utf8') }),
    );
  });
}

const HEADERS = ['--header', 'Accept: application/vnd.github+json', '--header', 'X-GitHub-Api-Version: 2022-11-28'];
const ON = { GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' };
const QUIET = { ...ON, GH_PAGER: '', GH_DEBUG: '', GH_FORCE_TTY: '' };

const CALL_MS = 60_000;
const MOST_BYTES = 16 * 1024 * 1024;
