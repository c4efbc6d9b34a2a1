import { join } from 'node:path';
import type { HookedClient } from './client.ts';
import { hookCommand, mcpServer, type HookMoment } from './command-line.ts';
import { jsonFile } from './edit/json-file.ts';

/** Gemini CLI: everything is in one settings file. Its times are in milliseconds. */
export const geminiHooks: HookedClient = {
  name: 'gemini',
  title: 'Gemini CLI',
  tested: ['0.61.0'],
  files: ({ scope, options, machine }) => {
    const folder = scope.kind === 'user' ? machine.env['GEMINI_CLI_HOME'] || machine.home : scope.root;
    const hook = (moment: HookMoment, timeout: number) => ({
      type: 'command',
      name: `baton-${moment}`,
      command: hookCommand('gemini', moment, options, machine),
      timeout,
    });
    const { command, args, env } = mcpServer('gemini', options, machine);
    return [
      jsonFile({
        path: join(folder, '.gemini', 'settings.json'),
        hooks: {
          SessionStart: hook('start', 20_000),
          // Its flag for a stop that follows on a block is gone after a tool call: so it also says when the person speaks.
          ...(options.onStop === 'allow'
            ? {}
            : { BeforeAgent: hook('prompt', 5000), AfterAgent: hook('stop', 20_000) }),
          SessionEnd: hook('end', 5000),
        },
        mcp: { at: ['mcpServers', 'baton'], server: { command, args, env } },
      }),
    ];
  },
};
