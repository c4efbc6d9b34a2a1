import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDiskFaultText, isShortage } from '../protocol/resource-faults.ts';
import { problem, type Problem } from '../protocol/shape/problem.ts';
import { shellWord } from '../protocol/text/quote-for-shell.ts';

export type GitResult<T> = { readonly ok: true; readonly value: T } | GitFailure;

export interface GitFailure {
  readonly ok: false;
  readonly problem: Problem;
}

/** A git folder of Baton, whose configuration alone applies: no user or system settings, no hooks. */
export interface OwnGitFolder {
  readonly gitDir: string;
  /** The work tree; the git folder if omitted. */
  readonly worktree?: string;
  /** Locations of the index and the objects, if not in the git folder. */
  readonly env?: Readonly<Record<string, string>>;
}

export type GitLocation = string | OwnGitFolder;

export interface GitOptions {
  readonly cwd: GitLocation;
  readonly input?: string | Uint8Array;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** `latin1` keeps every byte of the output. */
  readonly encoding?: 'utf8' | 'latin1';
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that are results, not failures: 1 of `merge-base --is-ancestor` means no. */
  readonly answers?: readonly number[];
}

export interface GitOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Git variables for identity and network access. All others select a repository, index or configuration and would
 * redirect git from `cwd`; a daemon started from a hook has them. A daemon started by an agent also has the variables
 * of that agent's session, which the fences of other tasks would refuse.
 */
const KEPT =
  /^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|SSH(?:_COMMAND|_VARIANT)?|SSL_\w+|PROXY_\w+|ASKPASS|EXEC_PATH|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL))$/;

/** Runs git without a shell; callers check names from outside. */
export async function git(args: readonly string[], options: GitOptions): Promise<GitResult<GitOutput>> {
  for (let tries = 1; ; tries++) {
    const ran = await runOnce(args, options);
    if (ran.ok || tries === TRIES) return ran;
    if (ran.problem.code === 'git/no-descriptors') await sleep(SHORTAGE_PAUSE_MS);
    else if (HALF_MADE.test(ran.problem.message)) await sleep(PAUSE_MS);
    else return ran;
  }
}

/** While git adds a worktree, one of its files is briefly empty, and listing worktrees fails. */
const HALF_MADE = /failed to read .*worktrees\/.*\/commondir/;
/** Descriptors become free when connections close and programs end. */
const SHORTAGE_PAUSE_MS = 250;

async function runOnce(args: readonly string[], options: GitOptions): Promise<GitResult<GitOutput>> {
  const cwd = folderOf(options.cwd);
  // Node throws if the folder is a file, instead of reporting the error.
  if (statSync(cwd, { throwIfNoEntry: false })?.isFile() === true) {
    return gitFailure('git/cannot-run', `'${cwd}' is not a folder`, 'Name a folder in a git repository.');
  }
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      [...settingsFor(args), ...args],
      {
        cwd,
        env: { ...environmentOf(options.cwd), ...options.env },
        encoding: options.encoding ?? 'utf8',
        timeout: options.timeoutMs ?? TIMEOUT_MS,
        // SIGKILL would leave lock files, and so a locked repository.
        killSignal: 'SIGTERM',
        maxBuffer: options.maxBytes ?? MAX_BYTES,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        const isAnswer = code === 0 || (typeof code === 'number' && options.answers?.includes(code) === true);
        if (isAnswer) resolve({ ok: true, value: { code, stdout, stderr } });
        else resolve(renderGitFailure(args, options, error, stderr));
      },
    );
    // Git may exit before it has read everything; its exit code tells why.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
  });
}

/** Disables hooks and monitors, which an agent could add. `git config` still reads the real settings. */
export function settingsFor([command]: readonly string[]): string[] {
  const off = command === 'config' ? [] : ['-c', 'core.hooksPath=/dev/null'];
  return ['-c', 'core.fsmonitor=false', '-c', 'core.quotePath=false', ...off];
}

export async function gitText(args: readonly string[], options: GitOptions): Promise<GitResult<string>> {
  const ran = await git(args, options);
  return ran.ok ? { ok: true, value: ran.value.stdout.replace(/\n$/, '') } : ran;
}

export async function gitLines(args: readonly string[], options: GitOptions): Promise<GitResult<string[]>> {
  const ran = await git(args, options);
  return ran.ok ? { ok: true, value: ran.value.stdout.split('\n').filter((line) => line !== '') } : ran;
}

export async function gitFields(args: readonly string[], options: GitOptions): Promise<GitResult<string[]>> {
  const ran = await git(args, options);
  return ran.ok ? { ok: true, value: ran.value.stdout.split('\0').filter((field) => field !== '') } : ran;
}

export function folderOf(place: GitLocation): string {
  return typeof place === 'string' ? place : (place.worktree ?? place.gitDir);
}

export function environmentOf(place: GitLocation): NodeJS.ProcessEnv {
  if (typeof place === 'string') return gitEnvironment();
  const { gitDir, worktree, env } = place;
  return { ...ownEnvironment(gitDir), ...(worktree === undefined ? {} : { GIT_WORK_TREE: worktree }), ...env };
}

/** The environment for git in a repository of Baton, whose only configuration is the file in that folder. */
export function ownEnvironment(gitDir: string, from: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const kept = Object.entries(gitEnvironment(from)).filter(([name]) => !/^GIT_(?:CONFIG|AUTHOR|COMMITTER)_/.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: gitDir,
    XDG_CONFIG_HOME: gitDir,
    GIT_DIR: gitDir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
  };
}

export function gitEnvironment(from: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const kept = Object.entries(from).filter(([name]) => !/^(?:GIT|BATON)_/.test(name) || KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    // Reads must not take the index lock from a working agent, nor fetch objects from a promisor.
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    // `git replace` would substitute another commit's content.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_EDITOR: ':',
  };
}

export function gitFailure(code: string, message: string, hint: string): GitFailure {
  return { ok: false, problem: problem(code, message, hint) };
}

class GitError extends Error {
  readonly failure: GitFailure;

  constructor(failure: GitFailure) {
    super(failure.problem.message);
    this.failure = failure;
  }
}

/** Runs several git commands in sequence. Returns the first failure that `unwrap` meets. */
export async function attempt<T>(work: () => Promise<T>): Promise<GitResult<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (error instanceof GitError) return error.failure;
    throw error;
  }
}

/** Returns the value of a result. A failure ends the enclosing `attempt`. */
export function unwrap<T>(result: GitResult<T>): T {
  if (!result.ok) throw new GitError(result);
  return result.value;
}

type RunError = Pick<Error, 'message'> & {
  readonly code?: string | number | null | undefined;
  readonly killed?: boolean;
  readonly signal?: NodeJS.Signals;
};

const INSTALL_GIT = 'Install git 2.38 or newer: https://git-scm.com/downloads';

/** Turns a failed run into a problem. */
export function renderGitFailure(
  args: readonly string[],
  options: GitOptions,
  error: RunError | null,
  stderr: string,
): GitFailure {
  const command = `git ${args.find((word, i) => !word.startsWith('-') && args[i - 1] !== '-c') ?? ''}`;
  const code: unknown = error?.code;
  if (code === 'ENOENT') {
    const folder = folderOf(options.cwd);
    if (existsSync(folder)) return gitFailure('git/cannot-run', 'git is not on the PATH', INSTALL_GIT);
    return gitFailure('git/cannot-run', `there is no folder '${folder}'`, 'Name a folder in a git repository.');
  }
  if (isShortage(error)) {
    const message = `${command} could not be started: ${error?.message ?? ''}`;
    const hint = 'Raise the limits before the daemon starts: ulimit -n (open files), ulimit -u (processes).';
    return gitFailure('git/no-descriptors', message, hint);
  }
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    const message = `${command} printed more than ${options.maxBytes ?? MAX_BYTES} bytes`;
    return gitFailure('git/too-much-output', message, 'Look at a smaller range of commits or files.');
  }
  if (error?.killed === true) {
    const message = `${command} did not end within ${options.timeoutMs ?? TIMEOUT_MS} ms`;
    return gitFailure('git/timeout', message, 'Check for a lock or a slow disk, then try again.');
  }
  const output = stderr.trim();
  if (/not a git repository/.test(output)) {
    const message = `'${folderOf(options.cwd)}' is not in a git repository`;
    const hint = `Change to a repository, or create one: git init ${shellWord(folderOf(options.cwd))}`;
    return gitFailure('git/no-repository', message, hint);
  }
  if (/dubious ownership/.test(output)) {
    const hint = `If you trust it: git config --global --add safe.directory ${shellWord(folderOf(options.cwd))}`;
    return gitFailure('git/not-trusted', `git does not trust the owner of '${folderOf(options.cwd)}'`, hint);
  }
  if (isDiskFaultText(output)) {
    const hint = 'Free space on that disk, or make it writable; then try again.';
    return gitFailure('git/disk', `${command} cannot write: ${lastOutputLine(output)}`, hint);
  }
  const message = `${command} failed: ${lastOutputLine(output) || (error?.signal ?? error?.message ?? 'no reason given')}`;
  return gitFailure('git/failed', message, `Run the command by hand in ${folderOf(options.cwd)} to see more.`);
}

/** Returns the errors without warnings and hints, followed by the files they concern, each after a tab. */
function lastOutputLine(output: string): string {
  const lines = output
    .split('\n')
    .filter((line) => /^(?:(?:fatal|error): |\t)/.test(line))
    .map((line) => line.trim());
  return (lines.length > 0 ? lines.join('; ') : output).replaceAll(/^(?:fatal|error): /g, '').slice(0, 2000);
}

const TRIES = 40;
const PAUSE_MS = 25;
