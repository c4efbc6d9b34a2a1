import { spawn } from 'node:child_process';

export interface ApiRequest {
  readonly host: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** Without a leading slash; `graphql` for what REST has not. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface ApiContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signal?: AbortSignal;
}

export interface GhResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `gh api`: arguments as an array, the body on its standard input, and nobody there to answer a question. */
export async function runGh(
  program: string,
  { host, method, path, body }: ApiRequest,
  context: ApiContext,
): Promise<GhResult> {
  const args = ['api', '--include', '--hostname', host, '--method', method, ...HEADERS];
  const input = body === undefined ? [] : ['--input', '-'];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, ...input, path], {
      cwd: context.cwd,
      env: { ...context.env, ...QUIET },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: CALL_MS,
      killSignal: 'SIGKILL',
      ...(context.signal === undefined ? {} : { signal: context.signal }),
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
const CALL_MS = 60_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** Nobody is there to answer a question, and what it prints is read by us. */
const QUIET = {
  GH_PROMPT_DISABLED: '1',
  GH_NO_UPDATE_NOTIFIER: '1',
  NO_COLOR: '1',
  GH_PAGER: '',
  GH_DEBUG: '',
  GH_FORCE_TTY: '',
};
