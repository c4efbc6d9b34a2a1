import { spawn } from 'node:child_process';
import { environmentOf, folderOf, type GitOptions, type GitResult, renderGitFailure, settingsFor } from './run-git.ts';

/** `onText` returns whether it wants more. If not, git is ended. */
export interface StreamOptions extends Pick<GitOptions, 'cwd' | 'env' | 'timeoutMs'> {
  readonly onText: (text: string) => boolean;
}

/** Runs git and forwards its output in chunks, for output that is too large to keep. */
export async function streamGit(args: readonly string[], options: StreamOptions): Promise<GitResult<null>> {
  const { cwd, env, onText, timeoutMs = TIMEOUT_MS } = options;
  return new Promise((resolve) => {
    const child = spawn('git', [...settingsFor(args), ...args], {
      cwd: folderOf(cwd),
      env: { ...environmentOf(cwd), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      windowsHide: true,
    });
    let isEnough = false;
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (isEnough || onText(text)) return;
      isEnough = true;
      child.kill();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-MAX_MESSAGE_CHARACTERS);
    });
    child.on('error', (error) => resolve(renderGitFailure(args, { cwd }, error, stderr)));
    child.on('close', (code, signal) => {
      if (isEnough || code === 0) return resolve({ ok: true, value: null });
      const error = { message: '', killed: signal !== null, ...(signal === null ? {} : { signal }) };
      resolve(renderGitFailure(args, { cwd, timeoutMs }, error, stderr));
    });
  });
}

const TIMEOUT_MS = 60_000;
const MAX_MESSAGE_CHARACTERS = 20_000;
