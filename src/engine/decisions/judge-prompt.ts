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
const CLIMBING = /\.\.|"(?:file_)?path":"[/~]/;

/** One program that runs the project's own tools; no interpreter, no redirection, no quoting that could hide a name. */
function isPlainCommand(input: string): boolean {
  const command = /"command":"([^"\\]*)"/.exec(input)?.[1];
  if (command === undefined || !/^[\w ./:=@,-]+$/.test(command) || CLIMBING.test(command)) return false;
  return (
    PLAIN_PROGRAMS.has(command.split(' ')[0] ?? '') &&
    !/\b(?:exec|eval|config|set|install|add)\b|\s-[ce]\b/.test(command)
  );
}

const PLAIN_PROGRAMS: ReadonlySet<string> = new Set([
  'ls',
  'cat',
  'head',
  'tail',
  'wc',
  'grep',
  'rg',
  'pwd',
  'npm',
  'pnpm',
  'yarn',
  'cargo',
  'go',
  'pytest',
  'tsc',
]);
