import { join } from 'node:path';
import type { Environment } from '../protocol/environment.ts';
import { type AgentPlan, MODEL_CLIENTS } from '../protocol/run-plan.ts';
import { type Fields, fieldsOf } from '../protocol/shape/read-unknown.ts';
import type { Adapter, AgentContext, PreparedAgent, UserSetup } from './adapter.ts';
import { CLAUDE_PROFILE } from './capabilities/built-in.ts';
import { type ClaudeSettings, claudeSettings, httpHook } from './client-hooks.ts';

/**
 * Claude Code without a terminal. The prompt and later messages are lines on standard input, so one process holds the
 * whole conversation. It uses the user's login; of the user's settings only what a login needs is copied. In a terminal
 * it has the same hooks, but asks the person for permissions.
 */
export const claudeAdapter: Adapter = {
  profile: CLAUDE_PROFILE,
  runs: (run) => run === 'claude',
  needsPrompt: true,
  settingsFolder: claudeFolder,
  // Its shell writes there in which folder a command ended.
  shellTmpVariable: 'CLAUDE_CODE_TMPDIR',
  clientFiles: (env, cwd) => ({
    copied: [
      { path: join(claudeFolder(env), '.credentials.json'), isCredential: true },
      { path: join(claudeFolder(env), 'CLAUDE.md') },
      {
        path: join(env['CLAUDE_CONFIG_DIR'] ?? env['HOME'] ?? '', '.claude.json'),
        edit: (fields) => withoutOthers(fields, cwd),
      },
    ],
    withoutOwnSandbox: {},
  }),
  variables: (env) => [
    ...VARIABLES,
    ...(env['CLAUDE_CODE_USE_BEDROCK'] ? ['AWS_*'] : []),
    ...(env['CLAUDE_CODE_USE_VERTEX'] ? ['GOOGLE_*', 'CLOUDSDK_*', 'GCLOUD_*', 'CLOUD_ML_REGION', 'VERTEX_*'] : []),
    ...(env['CLAUDE_CODE_USE_FOUNDRY'] ? ['AZURE_*'] : []),
  ],
  prepare: (plan, context, files) => {
    const settings = claudeSettingsFor(context);
    return prepared(STREAMS, conversation(context), plan, context, files.folder, settings);
  },
  attach: (plan, context, files) => {
    // `--` ends the folders of `--add-dir` before the prompt.
    const prompt = context.prompt === null ? [] : ['--', context.prompt];
    const { PermissionRequest: _, ...hooks } = claudeSettingsFor(context).hooks;
    const settings = { ...claudeSettingsFor(context), hooks };
    return prepared([], [...conversation(context), ...prompt], plan, context, files.folder, settings);
  },
};

function claudeFolder(env: Environment): string {
  return env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? '', '.claude');
}

/**
 * Removes the user's MCP servers and other projects, because the session does not need them and they may contain keys.
 * The user's trust in the folder stays.
 */
function withoutOthers({ mcpServers: _servers, projects, ...rest }: Fields, cwd: string): object {
  const around = Object.entries(fieldsOf(projects)).filter(([path]) => cwd === path || cwd.startsWith(`${path}/`));
  const kept = around.map(([path, project]) => {
    const { hasTrustDialogAccepted, hasCompletedProjectOnboarding } = fieldsOf(project);
    return [path, { hasTrustDialogAccepted, hasCompletedProjectOnboarding }] as const;
  });
  return { ...rest, projects: Object.fromEntries(kept) };
}

function prepared(
  first: readonly string[],
  last: readonly string[],
  { model }: AgentPlan,
  context: AgentContext,
  folder: string,
  content: ClaudeSettings,
): PreparedAgent {
  const settings = join(folder, 'claude-settings.json');
  const mcp = join(folder, 'claude-mcp.json');
  return {
    ok: true,
    launch: {
      argv: [
        'claude',
        ...first,
        // Excludes user and project settings: a hook there that returns `continue: false` would end the agent.
        '--settings',
        settings,
        '--setting-sources',
        '',
        '--mcp-config',
        mcp,
        '--strict-mcp-config',
        '--permission-mode',
        'acceptEdits',
        '--allowedTools',
        CLAUDE_TOOLS.join(','),
        // Without project settings CLAUDE.md is read only from an added folder.
        '--add-dir',
        context.cwd,
        ...(model === undefined ? [] : ['--model', model]),
        ...last,
      ],
      env: ENVIRONMENT,
      output: MODEL_CLIENTS.claude.stream,
      input: 'stream-json',
      prompt: context.prompt,
      finds_exit_signals: true,
      commands: [...LOGIN_COMMANDS].map((name) => content[name]).filter((value) => typeof value === 'string'),
      files: [
        { path: settings, content: JSON.stringify(content, null, 2) },
        { path: mcp, content: JSON.stringify(MCP, null, 2) },
      ],
    },
  };
}

/** Variables of the client's API, its settings and its documented switches. */
const VARIABLES = `
ANTHROPIC_* CLAUDE_* CLAUDECODE DISABLE_* API_TIMEOUT_MS IS_SANDBOX USE_BUILTIN_RIPGREP MAX_THINKING_TOKENS
BASH_DEFAULT_TIMEOUT_MS BASH_MAX_TIMEOUT_MS BASH_MAX_OUTPUT_LENGTH MCP_TIMEOUT MCP_TOOL_TIMEOUT MAX_MCP_OUTPUT_TOKENS ENABLE_TOOL_SEARCH
`
  .trim()
  .split(/\s+/);

const STREAMS = ['-p', '--verbose', '--output-format', 'stream-json', '--input-format', 'stream-json'];

const ENVIRONMENT = {
  // Baton counts blocks itself. The client would override the hook after eight blocks in a row.
  CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '0',
  CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1',
  // An update would replace the program under running agents.
  DISABLE_AUTOUPDATER: '1',
};

/** The client takes the token from its environment. Without `alwaysLoad` the model must search for the tools first. */
const MCP = {
  mcpServers: {
    baton: {
      type: 'http',
      url: '${BATON_URL}/mcp',
      headers: { Authorization: 'Bearer ${BATON_TOKEN}' },
      alwaysLoad: true,
    },
  },
};

function conversation({ isResume, conversation: id }: AgentContext): string[] {
  return isResume && id !== null ? ['--resume', id] : [];
}

/** The settings of one run: the hooks, and the login part of the user's settings. */
function claudeSettingsFor({ user, injected = [] }: AgentContext): ClaudeSettings {
  const settings = claudeSettings();
  const own = injected.length === 0 ? user?.settings : withoutKeys(user?.settings ?? {}, injected);
  const kept = Object.entries(own ?? {}).filter(([name]) => LOGIN_SETTINGS.has(name));
  return { ...Object.fromEntries(kept), ...settings, hooks: { ...settings.hooks, PermissionRequest: [PERMISSION] } };
}

/** Removes the injected keys, because variables in settings override those of the process. */
function withoutKeys(settings: UserSetup['settings'], injected: readonly string[]): Fields {
  const { apiKeyHelper: _, env, ...rest } = settings;
  const dropped = new Set([...injected, 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']);
  return { ...rest, env: Object.fromEntries(Object.entries(fieldsOf(env)).filter(([name]) => !dropped.has(name))) };
}

/** Tools that run without a question. For all others the client asks the supervisor, since no person is present. */
const CLAUDE_TOOLS = ['Bash', 'Edit', 'Write', 'NotebookEdit', 'Read', 'WebFetch', 'WebSearch', 'mcp__baton'];

/** Settings with a command that the client runs in a shell. */
const LOGIN_COMMANDS = ['apiKeyHelper', 'awsAuthRefresh', 'awsCredentialExport', 'gcpAuthRefresh'] as const;

const LOGIN_SETTINGS = new Set<string>([...LOGIN_COMMANDS, 'env', 'forceLoginMethod', 'forceLoginOrgUUID']);

/** A person may take a day to answer. Without an answer the tool is refused. */
const PERMISSION = { hooks: [{ ...httpHook('permission-request'), timeout: 24 * 60 * 60 }] };
