/**
 * Whether a permission prompt may recommend its own approval. The prompt is written by the agent's client and quotes the agent, so this
 * decides nothing: it only keeps Baton from recommending what would change hooks, settings or Baton's own files. A prompt that cannot be
 * read, and every command that could hide a path, is not recommended.
 */
export function mayRecommendApproval(prompt: string): boolean {
  const asked = /^(?:Agent asks: )?May I use ([A-Za-z_]+)\? (\{.*\})$/s.exec(prompt);
  const tool = asked?.[1] ?? '';
  const input = asked?.[2] ?? '';
  if (PROTECTED.test(input)) return false;
  if (READING.has(tool)) return true;
  if (WRITING.has(tool)) return !CLIMBING.test(input);
  return SHELL.has(tool) && isPlainCommand(input);
}

const READING: ReadonlySet<string> = new Set([
  'Read',
  'Glob',
  'Grep',
  'LS',
  'WebSearch',
  'read_file',
  'list_directory',
  'glob',
]);
const WRITING: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit', 'write_file', 'replace']);
const SHELL: ReadonlySet<string> = new Set(['Bash', 'run_shell_command', 'shell']);

/** Configuration of clients, git, shells, packages and editors; Baton's own files and variables. */
const PROTECTED =
  /\.claude|\.codex|\.gemini|\.baton|baton|hooks?\b|settings|\.git\b|\.gitattributes|\.gitmodules|\.mcp|mcp|\.npmrc|\.env|\.vscode|\.idea|\.husky|\.ssh|\.config|profile|bashrc|zshrc|agents?\.md|claude\.md|gemini\.md|\\u/i;

/** Outside of the worktree, or in a home folder. */
const CLIMBING = /\.\.|"\w*path":\s*"[/~]/;

/** One call of the project's own tools; no interpreter, no redirection, no quoting that could hide a name. */
function isPlainCommand(input: string): boolean {
  const command = /^\{"command":"([^"\\]*)"/.exec(input)?.[1];
  if (command === undefined || !/^[\w ./:=@,-]+$/.test(command) || CLIMBING.test(command)) return false;
  const [program = '', subcommand = ''] = command.split(' ');
  const subcommands = PLAIN_PROGRAMS.get(program);
  if (subcommands === undefined || STARTS_ANOTHER.test(command)) return false;
  return subcommands === null || subcommands.includes(subcommand);
}

/** Options with which a plain program starts another one, or reads its settings from elsewhere. */
const STARTS_ANOTHER =
  /\b(?:exec|eval|config|set|install|add)\b|-(?:toolexec|vettool|pre)\b|\s-[cep]\b|\s--(?:prefix|cwd)\b/;

const SCRIPTS: readonly string[] = ['test', 'run'];

/** By program, the subcommands that fetch, publish and configure nothing; null for a program without subcommands. */
const PLAIN_PROGRAMS: ReadonlyMap<string, readonly string[] | null> = new Map([
  ['ls', null],
  ['cat', null],
  ['head', null],
  ['tail', null],
  ['wc', null],
  ['grep', null],
  ['rg', null],
  ['pwd', null],
  ['pytest', null],
  ['tsc', null],
  ['npm', SCRIPTS],
  ['pnpm', SCRIPTS],
  ['yarn', SCRIPTS],
  ['cargo', ['build', 'check', 'clippy', 'test']],
  ['go', ['build', 'test', 'vet']],
]);
