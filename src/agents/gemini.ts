import { join } from 'node:path';
import type { Environment } from '../protocol/environment.ts';
import { type AgentPlan, MODEL_CLIENTS } from '../protocol/run-plan.ts';
import { fieldOf } from '../protocol/shape/read-unknown.ts';
import type { LaunchFile } from '../supervisor/contract.ts';
import type { Adapter, AgentContext, PreparedAgent, UserSetup } from './adapter.ts';
import { GEMINI_PROFILE } from './capabilities/built-in.ts';
import {
  HOLD_MS,
  HOOK_TIMEOUT_S,
  hookCommands,
  stopHookCommand,
  TOOL_TIMEOUT_S,
  toolHookCommand,
} from './client-hooks.ts';

/**
 * Gemini CLI, one process per turn. It reads hooks only from settings files, and the machine-wide file must belong to
 * root. So each agent gets its own home for the client, with links to the user's login. The agent's shell keeps the
 * user's HOME.
 */
export const geminiAdapter: Adapter = {
  profile: GEMINI_PROFILE,
  runs: (run) => run === 'gemini',
  needsPrompt: true,
  settingsFolder: geminiFolder,
  projectSettings: ['.gemini', '.env'],
  clientFiles: (env) => ({
    copied: [...LOGIN_FILES].map((name) => ({
      path: join(geminiFolder(env), name),
      ...(RENEWED_FILES.has(name) ? ({ isCredential: true } as const) : {}),
      ...(SECRET_FILES.has(name) ? ({ isSecret: true } as const) : {}),
    })),
    withoutOwnSandbox: { GEMINI_SANDBOX: 'false' },
  }),
  providersFile: {
    name: '.env',
    url: /^\s*(?:export\s+)?(?:GOOGLE_GEMINI_BASE_URL|GOOGLE_VERTEX_BASE_URL|CODE_ASSIST_ENDPOINT)\s*=\s*["']?([^"'\s]{1,500})/gm,
  },
  variables: () => ['GEMINI_*', 'GOOGLE_*', 'CLOUDSDK_*', 'CODE_ASSIST_ENDPOINT'],
  hasUnreliableStopFlag: true,
  // Its shell writes there which processes it left behind.
  shellTmpVariable: 'TMPDIR',
  // Without a terminal; messages are sent on standard input.
  prepare: (plan, context, { folder }) =>
    prepared(plan, context, folder, ['--output-format', 'stream-json'], ['-p', '']),
  attach: (plan, context, { folder }) => {
    const prompt = context.prompt === null ? [] : ['--prompt-interactive', context.prompt];
    return prepared(plan, context, folder, [], prompt);
  },
};

function geminiFolder(env: Environment): string {
  return join(env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? '', '.gemini');
}

function prepared(
  { model }: AgentPlan,
  context: AgentContext,
  folder: string,
  first: readonly string[],
  last: readonly string[],
): PreparedAgent {
  const home = join(folder, 'gemini');
  const dot = join(home, '.gemini');
  return {
    ok: true,
    launch: {
      argv: [
        'gemini',
        ...first,
        '--approval-mode',
        'yolo',
        // Trusts the folder for this run. The variable would respect project settings, which could switch hooks off.
        '--skip-trust',
        ...(model === undefined ? [] : ['-m', model]),
        ...conversation(context),
        ...last,
      ],
      // Otherwise the client would restart itself as a child process to get more memory.
      env: { GEMINI_CLI_HOME: home, GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: '' },
      output: MODEL_CLIENTS.gemini.stream,
      input: 'once',
      prompt: context.prompt,
      finds_exit_signals: true,
      hold_ms: HOLD_MS,
      files: [
        { path: join(dot, 'settings.json'), content: JSON.stringify(settingsFor(context), null, 2) },
        ...loginLinks(dot, context.user),
      ],
      writes: [home],
      commands: hookCommands(context),
    },
  };
}

function settingsFor(context: AgentContext): object {
  return {
    ...loginSettings(context.user?.settings ?? {}),
    hooksConfig: { enabled: true },
    hooks: { AfterAgent: [hook(stopHookCommand(context))], BeforeTool: [hook(toolHookCommand(context))] },
    mcpServers: {
      baton: {
        httpUrl: '${BATON_URL}/mcp',
        headers: { Authorization: 'Bearer ${BATON_TOKEN}' },
        trust: true,
        timeout: TOOL_TIMEOUT_S * 1000,
      },
    },
  };
}

/** The timeout is in milliseconds. */
function hook(command: string): object {
  return { hooks: [{ type: 'command', name: 'baton', command, timeout: HOOK_TIMEOUT_S * 1000 }] };
}

/** The user's login and preferences, without hooks and MCP servers. */
function loginSettings(settings: UserSetup['settings']): object {
  const auth = fieldOf(settings['security'], 'auth');
  const kept = Object.entries(settings).filter(
    ([name]) => name === 'general' || name === 'model' || name === 'privacy',
  );
  return { ...Object.fromEntries(kept), ...(auth !== undefined && { security: { auth } }) };
}

/** Uses links, not copies, so that a login renewed by the client is renewed for the user too. */
function loginLinks(dot: string, user: UserSetup | undefined): LaunchFile[] {
  const names = (user?.entries ?? []).filter((name) => LOGIN_FILES.has(name));
  return names.map((name) => ({ path: join(dot, name), content: '', link: join(user?.folder ?? '', name) }));
}

const LOGIN_FILES = new Set([
  '.env',
  'GEMINI.md',
  'gemini-credentials.json',
  'google_accounts.json',
  'mcp-oauth-tokens.json',
  'oauth_creds.json',
]);

/** Files that the client renews. */
const RENEWED_FILES = new Set(['gemini-credentials.json', 'oauth_creds.json']);
const SECRET_FILES = new Set(['.env', 'mcp-oauth-tokens.json']);

function conversation({ isResume, conversation: id }: AgentContext): string[] {
  return isResume && id !== null ? ['--resume', id] : [];
}
