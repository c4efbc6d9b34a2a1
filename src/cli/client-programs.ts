import { resolve } from 'node:path';
import type { CliCommand } from './command.ts';

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
