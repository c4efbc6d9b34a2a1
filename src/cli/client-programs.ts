import { resolve } from 'node:path';
import { type CliCommand, EXIT } from './command.ts';
import { PROJECT_OPTION } from './operation-command.ts';

export const mcpCommand: CliCommand = {
  examples: [
    'baton mcp',
    'baton mcp --principal claude.ada',
    'claude mcp add baton -- baton mcp --principal claude.ada',
  ],
  args: [],
  options: [
    PROJECT_OPTION,
    {
      name: 'principal',
      value: 'NAME',
      about: 'The principal that is responsible for the work (default: one shared principal)',
    },
  ],
  ownsTerminal: () => true,
  async run({ options }, io) {
    const { runMcpStdio } = await import('../mcp/stdio.ts');
    const { stdin, stdout } = process;
    const cwd = resolve(io.cwd, options.get('project') ?? '.');
    const principal = options.get('principal');
    const who = principal === undefined ? {} : { principal };
    return runMcpStdio({ env: io.env, cwd, ...who, stdin, stdout, err: (text) => io.err(text) });
  },
};

export const hookStopCommand: CliCommand = {
  examples: [`echo '{"stop_hook_active":false}' | baton agent hook stop AGENT_ID`],
  args: [{ name: 'AGENT_ID', about: 'The agent; its client writes JSON to standard input' }],
  options: [],
  ownsTerminal: () => true,
  exitCodes: { 0: 'always; an empty answer lets the agent stop, an answer with a block keeps it running' },
  async run() {
    // Rarely used: bin/baton.cjs usually starts that program before it loads the CLI.
    await import('../supervisor/stop-hook/main.ts');
    return EXIT.ok;
  },
};

export const agentPlayCommand: CliCommand = {
  examples: [
    'baton agent play script.yaml',
    'baton agent play --check script.yaml',
    'baton agent play --acp script.yaml',
  ],
  args: [{ name: 'SCRIPT', about: 'Steps, in YAML or JSON; see: baton docs agents' }],
  options: [
    { name: 'check', about: 'Only check the script' },
    { name: 'acp', about: 'Speak the Agent Client Protocol on standard input and output' },
    { name: 'stream-json', about: 'Print events like Claude Code with --output-format stream-json' },
    { name: 'settings', value: 'FILE', about: 'Hooks, in the format of Claude Code' },
    { name: 'keep', value: 'DIR', about: 'Store the conversation in this folder' },
    { name: 'session-id', value: 'ID', about: 'The id of the conversation' },
    { name: 'resume', value: 'ID', about: 'Resume this conversation' },
    { name: 'prompted', about: 'Start when the first message arrives' },
  ],
  ownsTerminal: () => true,
  async run({ args, options }) {
    const { runScript } = await import('../agents/scripted/play.ts');
    const switches = new Set(['check', 'acp', 'stream-json', 'prompted']);
    const typed = [...options].flatMap(([name, value]) => (switches.has(name) ? [`--${name}`] : [`--${name}`, value]));
    return runScript([...typed, ...args]);
  },
};
