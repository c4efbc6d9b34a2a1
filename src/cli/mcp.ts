import { resolve } from 'node:path';
import type { Command } from './command.ts';

export const mcp: Command = {
  name: 'mcp',
  summary: 'Serve the tools of Baton to an agent, over standard input and output',
  examples: ['baton mcp', 'claude mcp add baton -- baton mcp'],
  args: [],
  options: [{ name: 'project', value: 'DIR', about: 'Another repository than the one around the current folder' }],
  async run({ options }, io) {
    const { runMcpStdio } = await import('../mcp/stdio.ts');
    const { stdin, stdout } = process;
    const cwd = resolve(io.cwd, options.get('project') ?? '.');
    return runMcpStdio({ env: io.env, cwd, stdin, stdout, err: (text) => io.err(text) });
  },
};
