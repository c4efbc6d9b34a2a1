import { resolve } from 'node:path';
import { type CliCommand, EXIT } from './command.ts';

export const mcpCommand: CliCommand = {
  name: 'mcp',
  summary: 'Serve the tools of Baton to an agent, over standard input and output',
  examples: [
    'baton mcp',
    'baton mcp --principal claude.ada',
    'claude mcp add baton -- baton mcp --principal claude.ada',
  ],
  args: [],
  options: [
    { name: 'project', value: 'DIR', about: 'Another repository than the one around the current folder' },
    { name: 'principal', value: 'NAME', about: 'Who answers for the work; left out: one principal that all share' },
  ],
  async run({ options }, io) {
    const { runMcpStdio } = await import('../mcp/stdio.ts');
    const { stdin, stdout } = process;
    const cwd = resolve(io.cwd, options.get('project') ?? '.');
    const principal = options.get('principal');
    const who = principal === undefined ? {} : { principal };
    return runMcpStdio({ env: io.env, cwd, ...who, stdin, stdout, err: (text) => io.err(text) });
  },
};

/** Programs that agents run, under the name that people know. */
export const hookStopCommand: CliCommand = {
  name: 'agent hook stop',
  summary: 'Decide whether an agent may end its turn, for its stop hook',
  examples: [`echo '{"stop_hook_active":false}' | baton agent hook stop AGENT_ID`],
  args: [{ name: 'AGENT_ID', about: 'The agent; its client sends JSON on standard input' }],
  options: [],
  exitCodes: { 0: 'always: an empty answer lets it stop, block JSON keeps it going' },
  async run() {
    // Usually this is not reached: the bin starts that program before anything else is loaded.
    await import('../supervisor/stop-hook/main.ts');
    return EXIT.ok;
  },
};

export const agentPlayCommand: CliCommand = {
  name: 'agent play',
  summary: 'Run the script of a scripted agent',
  examples: ['baton agent play script.yaml', 'baton agent play --check script.yaml'],
  args: [{ name: 'SCRIPT', about: 'Steps, in YAML or JSON: see docs/agents.md' }],
  options: [
    { name: 'check', about: 'Only check the script' },
    { name: 'stream-json', about: 'Print what happens as Claude Code does with --output-format stream-json' },
    { name: 'settings', value: 'FILE', about: 'Hooks, in the format of Claude Code' },
    { name: 'keep', value: 'DIR', about: 'Keep the conversation there' },
    { name: 'session-id', value: 'ID', about: 'The name of the conversation' },
    { name: 'resume', value: 'ID', about: 'Go on with it' },
    { name: 'prompted', about: 'Begin when the first message comes' },
  ],
  async run({ args, options }) {
    const { runScript: play } = await import('../agents/scripted/play.ts');
    const switches = new Set(['check', 'stream-json', 'prompted']);
    const typed = [...options].flatMap(([name, value]) => (switches.has(name) ? [`--${name}`] : [`--${name}`, value]));
    return play([...typed, ...args]);
  },
};
