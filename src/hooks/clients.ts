import { join } from 'node:path';
import { CLAUDE_PROFILE, GEMINI_PROFILE } from '../agents/capabilities/built-in.ts';
import type { ClientName, HookedClient } from './client.ts';
import { codexHooks } from './codex.ts';
import { hookCommand, type HookMoment, mcpServer } from './command-line.ts';
import { jsonFile } from './edit/json-file.ts';

/** `settings.local.json` is not shared: hooks name programs of this machine. All MCP servers are in `.claude.json`. */
export const claudeHooks: HookedClient = {
  name: 'claude',
  title: CLAUDE_PROFILE.title,
  tested: CLAUDE_PROFILE.tested,
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
        // Without `alwaysLoad` the model must search for the tools first.
        mcp: { at, server: { type: 'stdio', command, args, env, alwaysLoad: true } },
      }),
    ];
  },
};

/** Gemini CLI has one settings file. Its timeouts are in milliseconds. */
export const geminiHooks: HookedClient = {
  name: 'gemini',
  title: GEMINI_PROFILE.title,
  tested: GEMINI_PROFILE.tested,
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
          // Gemini drops the flag of a blocked stop after each tool call, so a second hook reports each message of the
          // user.
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

export const HOOKED_CLIENTS: Readonly<Record<ClientName, HookedClient>> = {
  claude: claudeHooks,
  codex: codexHooks,
  gemini: geminiHooks,
};
