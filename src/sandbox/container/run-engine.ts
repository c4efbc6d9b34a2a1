import { execFile } from 'node:child_process';
import { OWN_CONFIG, pick } from './engine-environment.ts';

export interface EngineAnswer {
  /** Null if the engine did not run, or did not exit by itself. */
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

export interface EngineCall {
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Set for pulls and builds, which use the user's proxy and registry settings. */
  readonly usesOwnConfig?: boolean;
}

/** Runs the engine's client once, without a shell. Never rejects. */
export async function runEngine(
  [program = '', ...first]: readonly string[],
  args: readonly string[],
  { timeoutMs, env = process.env, usesOwnConfig = true }: EngineCall,
): Promise<EngineAnswer> {
  const own = usesOwnConfig ? { ...pick(env), ...OWN_CONFIG } : env;
  return new Promise((resolve) => {
    const options = {
      env: own,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_BYTES,
      encoding: 'utf8',
    } as const;
    execFile(program, [...first, ...args], options, (error, output, errors) => {
      const isMissing = error !== null && 'code' in error && error.code === 'ENOENT';
      const isLate = error?.killed === true;
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : null,
        output,
        errors: isMissing ? 'not installed' : isLate ? `no answer in ${timeoutMs / 1000} s` : errors,
      });
    }).stdin?.end();
  });
}

/** The last line, which has the reason; warnings precede it. */
export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 500) ?? '';
}

const MAX_BYTES = 4 * 1024 * 1024;
