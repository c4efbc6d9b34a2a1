import { uses, type Reply } from '../models/script.ts';

/** The tools of a client, and how to read their results. */
export interface Hands {
  readonly shell: (command: string) => Reply;
  readonly read: (path: string) => Reply;
  readonly write: (path: string, content: string) => Reply;
  readonly edit: (path: string, before: string, after: string) => Reply;
  /** The replies that find Baton's tools, if the client does not list them. */
  readonly findsTools?: readonly Reply[];
  readonly tool: (name: string, input: object) => Reply;
  /** The output of a command, without the client's additions. */
  readonly outputIn: (result: string) => string;
}

export const claudeHands: Hands = {
  shell: (command) => uses('Bash', { command, description: 'a command' }),
  read: (file_path) => uses('Read', { file_path }),
  write: (file_path, content) => uses('Write', { file_path, content }),
  edit: (file_path, old_string, new_string) => uses('Edit', { file_path, old_string, new_string }),
  tool: (name, input) => uses(`mcp__baton__${name}`, input),
  outputIn: (result) => result,
};

/** For a model in a test, Codex has no file tools but its shell. */
export const codexHands: Hands = {
  ...handsOfShell(inShell, 'mcp__baton_run__'),
  findsTools: [uses('tool_search', { query: 'result_submit handoff_send exit_signal task_check' })],
  outputIn: (result) => /\nOutput:\n(.*)$/s.exec(result)?.[1] ?? result,
};

export const codexAcpHands: Hands = { ...codexHands, tool: (name, input) => uses(`mcp__baton__${name}`, input) };

/** Uses only the shell, which every client has, and Baton's tools. */
export function handsOfShell(shell: Hands['shell'], prefix: string): Hands {
  return {
    shell,
    tool: (name, input) => uses(`${prefix}${name}`, input),
    read: (path) => shell(`cat '${path}'`),
    write: (path, content) => shell(`cat > '${path}' <<'END'\n${content}END`),
    edit: (path, before, after) => shell(`node -e ${quote(REPLACE)} '${path}' ${quote(before)} ${quote(after)}`),
    outputIn: (result) => result,
  };
}

function inShell(cmd: string): Reply {
  return uses('exec_command', { cmd, yield_time_ms: 30_000, max_output_tokens: 60_000 });
}

const REPLACE =
  'const fs = require("fs"), [path, before, after] = process.argv.slice(1); fs.writeFileSync(path, fs.readFileSync(path, "utf8").replace(before, () => after))';

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Its file tools do not see files that git ignores, such as a session's forms. */
export const geminiHands: Hands = {
  shell: (command) => uses('run_shell_command', { command }),
  read: (path) => uses('run_shell_command', { command: `cat '${path}'` }),
  write: (path, content) =>
    path.includes('/.baton/')
      ? uses('run_shell_command', { command: `cat > '${path}' <<'END'\n${content}END` })
      : uses('write_file', { file_path: path, content }),
  edit: (file_path, old_string, new_string) =>
    uses('replace', { file_path, old_string, new_string, instruction: 'Refuse what is no duration.' }),
  tool: (name, input) => uses(`mcp_baton_${name}`, input),
  outputIn: (result) => OUTPUT.exec(result)?.[1] ?? result,
};

const OUTPUT =
  /^(?:<untrusted_context>\n)?Output: (.*?)(?:\n(?:Error|Exit Code|Signal|Process Group PGID|Background PIDs): .*)?$/s;
