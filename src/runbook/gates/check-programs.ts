import { posix } from 'node:path';

/**
 * The files that a check's command runs: the program, if it is a path, or the script of an interpreter (`sh ci/run.sh`,
 * `node scripts/check.mjs`). Whether a path is a file is for the caller to find out. Test files, globs and what a
 * package script or a Makefile runs are not included: ordinary changes touch them.
 */
export function programsOf(command: string): readonly string[] {
  return [...new Set(collect(command, '', 0))];
}

function collect(command: string, start: string, depth: number): string[] {
  let folder: string | undefined = start;
  return splitCommands(command).flatMap((words) => {
    const [program = '', ...given] = withoutPrefixes(words);
    const before = folder;
    if (program === 'cd' || program === 'pushd')
      folder = joinInside(
        before,
        given.find((word) => !word.startsWith('-')),
      );
    if (before === undefined) return [];
    const inner = SHELLS.test(posix.basename(program)) ? findShellCommand(given) : undefined;
    if (inner !== undefined && depth < MOST_NESTED) return collect(inner, before, depth + 1);
    return findFiles(program, given)
      .map((path) => joinInside(before, path))
      .filter((path) => path !== undefined)
      .filter((path) => path !== '' && !isTestFile(path));
  });
}

const MOST_NESTED = 3;

function findFiles(program: string, given: readonly string[]): string[] {
  const name = posix.basename(program).replace(/[\d.]+$/, '');
  const isInterpreter = INTERPRETERS.has(name) || INTERPRETERS.has(posix.basename(program));
  const own = program.includes('/') ? [program] : [];
  if (name === '.' || program === '.' || program === 'source') return given.slice(0, 1);
  if (!isInterpreter) return own;
  const files: string[] = [];
  for (let i = 0; i < given.length; i += 1) {
    const word = given[i] ?? '';
    if (word === '--test' || STOPS.test(word)) return [...own, ...files];
    const [option = '', value] = word.split(/=(.*)/s);
    if (PRELOADS.has(option)) {
      files.push(value ?? given[(i += 1)] ?? '');
    } else if (word.startsWith('-') && word !== '-') {
      if (value === undefined && (TAKES_VALUE.has(option) || (SHELLS.test(name) && /^-[a-z]*o$/.test(word)))) i += 1;
    } else if (!SUBCOMMANDS.has(word)) {
      files.push(word);
      break;
    }
  }
  // A bare name after `bun` or `deno` may be a task; with a folder or an extension it is a file.
  return [...own, ...files.filter((file) => /[/.]/.test(file) || SHELLS.test(name))];
}

const SHELLS = /^(?:ba|da|z|k|a|fi)?sh$/;
const INTERPRETERS: ReadonlySet<string> = new Set([
  'sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'node', 'nodejs', 'bun', 'deno', 'tsx', 'ts-node', 'ts-node-esm', 'jiti', 'esno', 'zx', 'babel-node', 'python', 'python3', 'pypy', 'pypy3',
  'ruby', 'jruby', 'perl', 'php', 'lua', 'luajit', 'Rscript', 'pwsh', 'powershell', 'groovy', 'tclsh', 'expect', 'osascript', 'julia', 'elixir', 'escript', 'guile', 'swift', 'kotlinc', 'dotnet-script', 'nu', 'coverage',
]); // prettier-ignore
/** Options after which there is no file: code in the command, or a module's name. */
const STOPS = /^-(?:[A-Za-z]*c|e|E|m|p|pe|ne|x)$|^--(?:eval|print|run|test-only)$/;
const PRELOADS: ReadonlySet<string> = new Set(['-r', '--require', '--import', '--loader', '--experimental-loader', '--env-file', '--preload', '--init-file', '--rcfile', '--config', '--rcfile']); // prettier-ignore
const TAKES_VALUE: ReadonlySet<string> = new Set(['-o', '+o', '-O', '-W', '-X', '-I', '-C', '--conditions', '--title', '--stack-size', '--tsconfig', '-P', '--project', '--input-type', '--cwd']); // prettier-ignore
/** `bun run FILE`, `deno run FILE`, `coverage run FILE`, `tsx watch FILE`. */
const SUBCOMMANDS: ReadonlySet<string> = new Set(['run', 'watch']);

/** Removes variables, `env`, `timeout 60`, `uv run` and the like in front of the program. */
function withoutPrefixes(words: readonly string[]): readonly string[] {
  let rest = words;
  for (;;) {
    const [first = '', second = ''] = rest;
    if (/^[A-Za-z_]\w*=/.test(first) || OPENING.has(first)) rest = rest.slice(1);
    else if (RUNNERS.get(posix.basename(first))?.includes(second) === true) rest = skipOptions(rest.slice(2), 0);
    else if (WRAPPERS.has(posix.basename(first)))
      rest = skipOptions(rest.slice(1), WRAPPERS.get(posix.basename(first)) ?? 0);
    else return rest;
  }
}

function skipOptions(words: readonly string[], operands: number): readonly string[] {
  let at = 0;
  while ((words[at] ?? '').startsWith('-')) at += OPTION_VALUES.has(words[at] ?? '') ? 2 : 1;
  return words.slice(at + operands);
}

const OPENING: ReadonlySet<string> = new Set(['!', '{', 'if', 'then', 'else', 'elif', 'while', 'until', 'do', 'exec', 'command', 'builtin', 'eval']); // prettier-ignore
/** Programs that run the rest of the line, with the number of their own operands. */
const WRAPPERS: ReadonlyMap<string, number> = new Map([
  ['env', 0], ['time', 0], ['nice', 0], ['ionice', 0], ['nohup', 0], ['timeout', 1], ['gtimeout', 1], ['stdbuf', 0], ['sudo', 0], ['doas', 0], ['xvfb-run', 0], ['setsid', 0], ['chronic', 0], ['caffeinate', 0], ['npx', 0], ['bunx', 0], ['pnpx', 0], ['dotenv', 0], ['cross-env', 0], ['unshare', 0], ['taskset', 1], ['flock', 1], ['strace', 0],
]); // prettier-ignore
const OPTION_VALUES: ReadonlySet<string> = new Set(['-n', '-u', '-k', '-s', '-S', '--signal', '--kill-after', '-p', '--package', '--with', '--python', '--env-file', '-C']); // prettier-ignore
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['uv', ['run']], ['poetry', ['run']], ['pipenv', ['run']], ['pdm', ['run']], ['rye', ['run']], ['hatch', ['run']], ['pixi', ['run']], ['bundle', ['exec']], ['npm', ['exec', 'x']], ['pnpm', ['exec']], ['yarn', ['exec']], ['mise', ['exec', 'x']], ['direnv', ['exec']],
]); // prettier-ignore

function findShellCommand(given: readonly string[]): string | undefined {
  const at = given.findIndex((word) => /^-[a-z]*c[a-z]*$/.test(word));
  return at < 0 ? undefined : given[at + 1];
}

/** A test file by its name: it changes with ordinary work. */
function isTestFile(path: string): boolean {
  return /(?:^|[._-])(?:test|tests|spec|specs)\.[^.]+$|(?:^|\/)test_[^/]*\.py$|\.(?:test|spec)\./i.test(
    posix.basename(path),
  );
}

/** The path below the top of the repository; undefined if it is outside, or known only to the shell. */
function joinInside(folder: string | undefined, path: string | undefined): string | undefined {
  if (folder === undefined || path === undefined || /[$`*?[\]{}~]/.test(path) || path.startsWith('/')) return undefined;
  const joined = posix.normalize(posix.join(folder, path)).replace(/\/$/, '');
  return joined.startsWith('..') ? undefined : joined === '.' ? '' : joined;
}

/** The words of each simple command. Quotes are removed; what the shell would expand keeps its `$`. */
function splitCommands(command: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  const endWord = (): void => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (const [token] of command.matchAll(TOKENS)) {
    if (/^\s+$/.test(token) && !token.includes('\n')) endWord();
    else if (/^(?:[\n;|&()]|\s)/.test(token)) {
      endWord();
      commands.push([]);
    } else if (token.startsWith('#') && word === undefined) continue;
    else word = (word ?? '') + unquote(token);
  }
  endWord();
  return commands.filter((words) => words.length > 0);
}

const TOKENS =
  /'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]|\$\(|[^\S\n]+|\s*\n\s*|&&|\|\||[;|&()]|#[^\n]*|[^\s'"\\;|&()#$]+|[^]/g;

function unquote(token: string): string {
  if (token.startsWith("'")) return token.slice(1, -1);
  if (token.startsWith('"')) return token.slice(1, -1).replaceAll(/\\(["\\$`])/g, '$1');
  return token.startsWith('\\') ? token.slice(1).replace('\n', '') : token;
}

/**
 * The files of `siblings` that a script imports or runs: all are in its folder. Only whole file names count, and
 * for imports the name without its extension.
 */
export function importsOf(path: string, text: string, siblings: readonly string[]): readonly string[] {
  return siblings.filter(
    (each) => each !== path && SCRIPT.test(each) && !isTestFile(each) && names(text, posix.basename(each)),
  );
}

function names(text: string, file: string): boolean {
  const stem = file.replace(/\.[^.]+$/, '');
  const [whole, part] = [RegExp.escape(file), RegExp.escape(stem)];
  const ways = [
    // `. ./lib.sh`, `"$HERE/lib.sh"`, './lib.mjs'
    String.raw`(?:^|[\s/"'=;(])${whole}(?=$|[\s"';)&|])`,
    // import './lib', require('./lib'), also './lib.js' for lib.ts
...(/\.(?:[cm]?[jt]s|[jt]sx|json)$/.test(file) ? [String.raw`["']\./${part}(?:\.[cm]?[jt]sx?)?["']`] : []),
    ...(file.endsWith('.py') ? [String.raw`^\s*(?:from\s+\.?${part}\s+import|from\s+\.\s+import\s.*\b${part}\b|import\s(?:.*,)?\s*${part}\b)`] : []),
    ...(file.endsWith('.rb') ? [String.raw`require_relative\s*\(?\s*["'](?:\./)?${part}["']`] : []),
  ]; // prettier-ignore
  return new RegExp(ways.join('|'), 'm').test(text);
}

const SCRIPT = /\.(?:sh|bash|zsh|ksh|fish|[cm]?[jt]s|[jt]sx|json|py|rb|pl|pm|php|lua|r|ps1|groovy|tcl|exs?|jl|nu)$/i;
