import { spawnSync } from 'node:child_process';
import type { Io } from './command.ts';

/** Prints a text. At a terminal, uses a pager if the text has more lines than the screen. */
export function printLong(text: string, io: Io, rows: number = process.stdout.rows): void {
  const pager = findPager(text, io, rows);
  if (pager === undefined) return io.out(text);
  // Ctrl-C belongs to the pager: without Baton, it would read a terminal that the shell reads too.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  const { error, status } = spawnSync('sh', ['-c', pager], {
    input: text,
    stdio: ['pipe', 'inherit', 'inherit'],
    // The text is UTF-8 whatever the locale. Without this, `less` would show other letters as bytes.
    env: { ...io.env, LESS: io.env['LESS'] ?? 'FRX', LESSCHARSET: io.env['LESSCHARSET'] ?? 'utf-8' },
  });
  process.off('SIGINT', ignore);
  // 126 and 127: there is no such pager. Leaving one early is no failure.
  if (error !== undefined && 'code' in error && error.code !== 'EPIPE') io.out(text);
  else if (status === 126 || status === 127) io.out(text);
}

/** BATON_PAGER takes precedence over PAGER. An empty value and `cat` mean no pager. */
export function findPager(
  text: string,
  { env, isTerminal, pager }: Pick<Io, 'env' | 'isTerminal' | 'pager'>,
  rows: number | undefined,
): string | undefined {
  if (!isTerminal || pager === false || rows === undefined || rows === 0) return undefined;
  // A terminal without a type cannot move its cursor, and `less` would complain.
  if (['', 'dumb'].includes(env['TERM'] ?? '')) return undefined;
  if (text.split('\n').length <= rows) return undefined;
  const program = (env['BATON_PAGER'] ?? env['PAGER'] ?? 'less').trim();
  return program === '' || program === 'cat' ? undefined : program;
}
