import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { Terminal } from '../../test/processes/terminal.ts';
import { until } from '../../test/processes/until.ts';
import type { Chunk, Size } from './frames.ts';
import { normalize } from './normalize.ts';

/** A typed line, and the text at the end of the output to wait for; by default the next prompt. */
type Typed = readonly [line: string, waitsFor?: RegExp];

export interface Scene extends Size {
  /** The repository's files, by their path in this one. If absent, the scene has no repository. */
  readonly files?: Readonly<Record<string, string>>;
  /** Commands to run before the recording begins. */
  readonly before?: readonly string[];
  readonly typed: readonly Typed[];
}

const ROOT = join(import.meta.dirname, '../..');
const PROGRAMS = [
  'node',
  'npm',
  'git',
  'sh',
  'env',
  'script',
  'stty',
  'tty',
  'cat',
  'cp',
  'ls',
  'rm',
  'sed',
  'sleep',
  'head',
];
const PROMPT = /(?:^|\n)\$ $/;
const END_OF_INPUT = '\u0004';
const PATIENCE_MS = 60_000;

/** The speed of typing. */
export interface Typist {
  readonly keyMs: number;
  readonly thinkMs: number;
}

const PERSON: Typist = { keyMs: 45, thinkMs: 1200 };

/**
 * Plays a scene with the real product in a real pseudo-terminal, in a separate folder and with an environment built
 * from nothing.
 */
export async function record(scene: Scene, { keyMs, thinkMs }: Typist = PERSON): Promise<Chunk[]> {
  const { files, before = [], typed, columns, rows } = scene;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-scene-')));
  const env = makeEnvironment(folder);
  const cwd = files === undefined ? folder : makeRepository(folder, files, env);
  try {
    for (const command of before) execFileSync('/bin/sh', ['-c', command], { cwd, env, stdio: 'ignore' });
    await using terminal = new Terminal(['/bin/sh', '-i'], { cwd, env, columns, rows });
    const shows = async (what: RegExp): Promise<void> => waitFor(terminal, what);
    await shows(PROMPT);
    for (const [line, waitsFor = PROMPT] of typed) {
      await sleep(thinkMs);
      for (const key of line) {
        terminal.type(key);
        await sleep(keyMs);
      }
      await sleep(thinkMs / 2);
      const mark = terminal.written.length;
      terminal.type('\n');
      await until(`the terminal echoes ${line}`, () => terminal.written.length > mark);
      await shows(waitsFor);
    }
    const chunks = normalizeAll(terminal.chunks);
    terminal.type(END_OF_INPUT);
    await terminal.exit();
    return chunks;
  } finally {
    execFileSync('/bin/sh', ['-c', 'baton down'], { cwd, env, stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function makeEnvironment(folder: string): Record<string, string> {
  for (const name of ['bin', 'home', 'tmp']) mkdirSync(join(folder, name));
  for (const program of PROGRAMS) {
    const path = execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).trim();
    symlinkSync(path, join(folder, 'bin', program));
  }
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'bin/baton.cjs')}' "$@"\n`;
  writeFileSync(join(folder, 'bin/baton'), launcher, { mode: 0o755 });
  writeFileSync(
    join(folder, 'home/.gitconfig'),
    '[user]\nname = Ada\nemail = ada@localhost\n[init]\ndefaultBranch = main\n',
  );
  return {
    PATH: join(folder, 'bin'),
    HOME: join(folder, 'home'),
    BATON_STATE_DIR: join(folder, 'state'),
    PS1: '$ ',
    BATON_PAGER: '',
    GIT_PAGER: 'cat',
  };
}

function makeRepository(folder: string, files: Readonly<Record<string, string>>, env: Record<string, string>): string {
  const cwd = join(folder, 'durations');
  for (const [to, from] of Object.entries(files)) cpSync(join(ROOT, from), join(cwd, to), { recursive: true });
  const git = (...args: string[]): unknown => execFileSync('git', args, { cwd, env, stdio: 'ignore' });
  mkdirSync(cwd, { recursive: true });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message=Begin');
  return cwd;
}

async function waitFor(terminal: Terminal, what: RegExp): Promise<void> {
  const seen = (): string => stripVTControlCharacters(terminal.written).replaceAll('\r', '');
  try {
    await until(`the terminal shows ${String(what)}`, () => what.test(seen()), PATIENCE_MS);
  } catch (error) {
    throw new Error(`${String(error)}; it shows:\n${seen().slice(-2000)}`, { cause: error });
  }
}

/** Normalizes the whole output at once, because an id may be split over two chunks. */
function normalizeAll(chunks: readonly Chunk[]): Chunk[] {
  const whole = normalize(chunks.map(({ text }) => text).join(''));
  let offset = 0;
  return chunks.map(({ atMs, text }) => ({ atMs, text: whole.slice(offset, (offset += text.length)) }));
}
