import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

export interface TerminalChunk {
  readonly atMs: number;
  readonly text: string;
}

/**
 * A program in a real pseudo-terminal (made by `script`), with input and a screen. Its output is kept as it arrived,
 * and as the picture that a terminal would show.
 */
export class Terminal implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'baton-terminal-'));
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | null>;
  readonly #chunks: TerminalChunk[] = [];
  #written = '';

  constructor(argv: readonly string[], { cwd, env, columns = 80, rows = 24 }: TerminalOptions) {
    const quoted = argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const inside = `stty rows ${rows} cols ${columns}; tty > '${this.#folder}/tty'; exec ${quoted}`;
    this.#child = spawn('script', ['--quiet', '--flush', '--return', '--command', inside, '/dev/null'], {
      cwd,
      env: { ...env, TERM: 'xterm-256color', SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#written += text;
      this.#chunks.push({ atMs: performance.now(), text });
    });
    // Input during the program's exit is ignored, since the exit itself is visible.
    this.#child.stdin?.on('error', () => {});
    this.#exit = once(this.#child, 'close').then(([code]) => (typeof code === 'number' ? code : null));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get written(): string {
    return this.#written;
  }

  /** The output in the chunks in which it arrived. */
  get chunks(): readonly TerminalChunk[] {
    return this.#chunks;
  }

  /** The lines of the screen, as far as the output moves on it. */
  get picture(): readonly string[] {
    return drawnBy(this.#written);
  }

  async shows(text: string | RegExp): Promise<void> {
    const has = (): boolean => {
      const picture = this.picture.join('\n');
      return typeof text === 'string' ? picture.includes(text) : text.test(picture);
    };
    try {
      await until(`the terminal shows ${String(text)}`, has);
    } catch (error) {
      throw new Error(`${String(error)}; it shows:\n${this.picture.join('\n')}`, { cause: error });
    }
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Resizes the terminal, like a window manager. */
  resize(columns: number, rows: number): void {
    const tty = readFileSync(join(this.#folder, 'tty'), 'utf8').trim();
    spawnSync('stty', ['-F', tty, 'rows', String(rows), 'cols', String(columns)], { stdio: 'inherit' });
  }

  /** Closes the window or the connection: the system signals that to the running program. */
  hangUp(): void {
    this.#child.kill('SIGKILL');
  }

  async exit(): Promise<number | null> {
    return this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGTERM');
    await this.#exit;
    rmSync(this.#folder, { recursive: true });
  }
}

/** The part of a terminal that is needed here: text, line breaks, positions, and erasing. */
function drawnBy(written: string): string[] {
  let screen: string[] = [];
  let row = 0;
  let column = 0;
  const put = (text: string): void => {
    const line = (screen[row] ?? '').padEnd(column);
    screen[row] = line.slice(0, column) + text + line.slice(column + text.length);
    column += text.length;
  };
  // oxlint-disable-next-line no-control-regex
  for (const [token, , args = '', final] of written.matchAll(TOKENS)) {
    if (final === 'H') [row, column] = args.split(';').map((n) => Math.max(0, Number(n || 1) - 1)) as [number, number];
    else if (final === 'K') screen[row] = (screen[row] ?? '').slice(0, column);
    else if (final === 'J' && args === '2') screen = [];
    else if (final === 'J') screen = [...screen.slice(0, row), (screen[row] ?? '').slice(0, column)];
    else if (final === 'A') row = Math.max(0, row - Number(args || 1));
    else if (final === 'G') column = Math.max(0, Number(args || 1) - 1);
    else if (token === '\r') column = 0;
    else if (token === '\n') row += 1;
    else if (!token.startsWith('\u001B') && token !== '\u0007') put(token);
  }
  return Array.from(screen, (line) => (line ?? '').trimEnd());
}

// oxlint-disable-next-line no-control-regex
const TOKENS = /(\u001B\[([?\d;]*)([A-Za-z])|\u001B\][^\u0007]*\u0007|\u001B.)|[\r\n\u0007]|[^\u001B\r\n\u0007]+/g;
