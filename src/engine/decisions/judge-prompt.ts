import { namesCodeFile } from '../../protocol/code-files/code-files.ts';
import { fieldsOf } from '../../protocol/shape/read-unknown.ts';

/**
 * Whether a permission prompt may recommend its own approval. The agent's client writes the prompt and quotes the
 * agent, so this is no access control: it only keeps Baton from recommending changes of hooks, settings or Baton's own
 * files. A prompt that cannot be parsed, and any command that could hide a path, is not recommended.
 */
export function mayRecommendApproval(prompt: string): boolean {
  const asked = /^(?:Agent asks: )?May I use ([A-Za-z_]+)\? (\{.*\})$/s.exec(prompt);
  const tool = asked?.[1] ?? '';
  const text = asked?.[2] ?? '';
  const input = parseInput(text);
  if (input === undefined || OWN.test(text) || namesCodeFile(text)) return false;
  if (READING.has(tool) || WRITING.has(tool)) return !Object.entries(input).some(leavesWorktree);
  return SHELL.has(tool) && isPlainCommand(input['command']);
}

function parseInput(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
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

/** Baton's own files and variables, and what clients, git and shells read below a home folder. */
const OWN = /baton|hooks?\b|settings|\.git\b|mcp|\.env|\.ssh|\.config|profile|bashrc|zshrc|\\u/i;

/**
 * Whether a path is outside the worktree or in a home folder. Clients use several names for the field. Nested values
 * are not inspected.
 */
function leavesWorktree([name, value]: readonly [string, unknown]): boolean {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return true;
  return /path|file|dir/i.test(name) && (typeof value !== 'string' || /^[/~]|\.\./.test(value));
}

/**
 * Whether the command runs one program with the project's own tools: no interpreter, no redirection, and no quoting
 * that could hide a name.
 */
function isPlainCommand(command: unknown): boolean {
  if (typeof command !== 'string' || !/^[\w ./:=@,-]+$/.test(command) || /\.\.|(?:^|[ =:])[/~]/.test(command))
    return false;
  const [program = '', first = ''] = command.split(' ');
  const tasks = PLAIN_PROGRAMS.get(program);
  return tasks !== undefined && (tasks.length === 0 || tasks.includes(first)) && !STARTS_ANOTHER.test(command);
}

/** Words and options with which a plain program starts another one or reads its settings from elsewhere. */
const STARTS_ANOTHER =
  /\b(?:exec|eval|config|set|install|add|publish|pre)\b|-(?:toolexec|vettool)\b|\s-[cep]\b|\s--(?:prefix|cwd)\b/;

/**
 * The allowed programs, with the first argument that each must have; any if the list is empty. `npm x` and `go run`
 * would start anything.
 */
const PLAIN_PROGRAMS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...['ls', 'cat', 'head', 'tail', 'wc', 'grep', 'rg', 'pwd', 'pytest', 'tsc'].map((name) => [name, []] as const),
  ...['npm', 'pnpm', 'yarn'].map((name) => [name, ['test', 'run', 'lint', 'build', 'ls']] as const),
  ['cargo', ['test', 'build', 'check', 'clippy', 'fmt']],
  ['go', ['test', 'build', 'vet', 'fmt']],
]);
