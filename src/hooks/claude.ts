import { join } from 'node:path';
import type { HookedClient } from './client.ts';
import { hookCommand, mcpServer } from './command-line.ts';
import { jsonFile } from './edit/json-file.ts';

/**
 * Claude Code. For one repository the hooks go into `settings.local.json`, which is each person's own: they name programs of this machine.
 * MCP servers of a person are in `.claude.json`, also those for one repository.
 */
export const claudeHooks: HookedClient = {
  name: 'claude',
  title: 'Claude Code',
  tested: ['2.1.197', '2.1.325'],
  files: ({ scope, options, machine }) => {
    const { CLAUDE_CONFIG_DIR: folder } = machine.env;
    const hook = (moment: 'start' | 'stop' | 'end', timeout: number) => ({
      type: 'command',
      command: hookCommand('claude', moment, options, machine),
      timeout,
    });
    const settings =
      scope.kind === 'user'
        ? join(folder || join(machine.home, '.claude'), 'settings.json')
        : join(scope.root, '.claude', 'settings.local.json');
    const { command, args, env } = mcpServer('claude', options, machine);
    const at = scope.kind === 'user' ? ['mcpServers', 'baton'] : ['projects', scope.root, 'mcpServers', 'baton'];
    return [
      jsonFile({
        path: settings,
        hooks: {
          SessionStart: hook('start', 20),
          ...(options.onStop === 'allow' ? {} : { Stop: hook('stop', 20) }),
          SessionEnd: hook('end', 5),
        },
      }),
      jsonFile({
        path: join(folder || machine.home, '.claude.json'),
        hooks: {},
        // Without `alwaysLoad` the model has to search for the tools first.
        mcp: { at, server: { type: 'stdio', command, args, env, alwaysLoad: true } },
      }),
    ];
  },
};
