import { join } from 'node:path';
import type { Adapter } from './adapter.ts';

/**
 * Any program. It gets what it is told on standard input, where later messages follow, and in a file for those that want it whole;
 * it speaks through the CLI, MCP or its standard output.
 */
export const commandAdapter: Adapter = {
  runs: (run) => !run.startsWith('builtin:'),
  prepare: ({ run }, { prompt, start }, { folder }) => {
    const promptFile = join(folder, `prompt-${start}.md`);
    return {
      ok: true,
      launch: {
        argv: ['/bin/sh', '-c', run],
        env: { BATON_START: String(start), ...(prompt === null ? {} : { BATON_PROMPT_FILE: promptFile }) },
        output: 'text',
        input: 'text',
        prompt,
        finds_exit_signals: true,
        files: prompt === null ? [] : [{ path: promptFile, content: prompt }],
      },
    };
  },
};
