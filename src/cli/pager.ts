import { spawnSync } from 'node:child_process';
import type { Io } from './command.ts';

/** Prints a text. At a terminal, uses a pager if the text has more lines than the screen. */
export function printLong(text: string, io: Io, rows: number = process.stdout.rows): void {
  const pager = findPager(text, io, rows);
  if (pager === undefined) return io.out(text);
  const { error, status } = spawnSync('sh', ['-c', pager], {
    input: text,
    stdio: ['pipe', 'inherit', 'inherit'],
    // The text is UTF-8 whatever the locale. Without this, `less` would show other letters as bytes.
    env: { ...io.env, LESS: io.env['LESS'] ?? 'FRX', LESSCHARSET: io.env['LESSCHARSET'] ?? 'utf-8' },
  });
  // Codes 126 and 127 mean that the pager does not exist. Leaving a pager early is not a failure.
  if (error !== undefined && 'code' in error && error.code !== 'EPIPE') io.out(text);
  else if (status === 126 || status === 127) io.out(text);
}

/** BATON_PAGER takes precedence over PAGER. An empty value and `cat` mean no pager. */
export function findPager(
  text: string,
  { env, isTerminal, pager }: Pick<Io, 'env' | 'isTerminal' | 'pager'>,
  rows: number | undefined,
): string | undefined {
  if (!isTerminal || pager === false || env['TERM'] === 'dumb' || rows === undefined || rows === 0) return undefined;
  if (text.split('\n').length <= rows) return undefined;
  const program = (env['BATON_PAGER'] ?? env['PAGER'] ?? 'less').trim();
  return program === '' || program === 'cat' ? undefined : program;
}
