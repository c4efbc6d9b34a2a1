import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { ACP_ADAPTERS } from '../../src/agents/acp/adapter.ts';
import type { Adapter } from '../../src/agents/adapter.ts';
import { fieldsInJson } from '../../src/protocol/shape/read-unknown.ts';
import { STREAMS } from '../../src/streams/reader.ts';
import { startOpenaiChat } from '../models/openai-chat.ts';
import { startOpenai } from '../models/openai.ts';
import { fails, uses } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import type { ClientCase } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';
import { geminiCase } from './gemini-under-test.ts';
import type { World } from './world.ts';

/** Common to all ACP agents: Baton's driver asks before the agent may stop, whatever the agent's settings are. */
const COMMON = { reader: STREAMS.acp, unauthorized: fails(401, 'invalid_api_key', 'the key is wrong') } as const;

const NO_END = 'ACP has no field for the end of a limit';
const OWN_SETTINGS = 'it completes its own settings file at each start';
const RETRIES = 'it retries for as long as it runs, and reports nothing';

export const opencodeCase: ClientCase = {
  ...COMMON,
  adapter: adapterOf('opencode'),
  run: 'opencode',
  startModel: startOpenaiChat,
  model: 'scripted/scripted-model',
  env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' }),
  shell: (command) => uses('bash', { command, description: 'a command' }),
  callsTool: [uses('baton_task_brief', {})],
  toolName: 'baton_task_brief',
  instructions: 'AGENTS.md',
  conversation: /^ses_\w+$/,
  silence: '20s',
  ...settingsIn(
    '.config/opencode/opencode.json',
    ({ model }) =>
      JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        model: 'scripted/scripted-model',
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${model.url}/v1`, apiKey: 'dummy' },
            models: { 'scripted-model': { limit: { context: 200_000, output: 8000 }, cost: OPENCODE_COST } },
          },
        },
      }),
    (content) => JSON.stringify({ ...fieldsInJson(content), plugin: [] }),
  ),
  transcripts: ({ home }) => `${home}/.local/share/opencode/opencode.db*`,
  outOfCredits: fails(402, 'billing_error', 'pay first'),
  rateLimited: () => fails(429, 'rate_limit_error', 'too many', { 'retry-after': '3600' }),
  usage: { input: 80, output: 7, cacheRead: 20, cacheWrite: 0, costMillicents: expect.any(Number) },
  cannot: {
    errorKinds: 'its errors have a message and no kind',
    limits: RETRIES,
    noInternet: RETRIES,
    wholeTurns: 'it reports the last request of a turn only',
    settings: OWN_SETTINGS,
  },
};

/** Dollars per million tokens. */
const OPENCODE_COST = { input: 3, output: 15, cache_read: 0.3 };

export const qwenCase: ClientCase = {
  ...COMMON,
  adapter: adapterOf('qwen'),
  run: 'qwen',
  startModel: startOpenaiChat,
  model: 'scripted-model',
  env: ({ model }) => ({
    OPENAI_API_KEY: 'dummy',
    OPENAI_BASE_URL: `${model.url}/v1`,
    OPENAI_MODEL: 'scripted-model',
  }),
  shell: (command) => uses('run_shell_command', { command, is_background: false, description: 'a command' }),
  callsTool: [uses('tool_search', { query: 'select:mcp__baton__task_brief' }), uses('mcp__baton__task_brief', {})],
  toolName: 'mcp__baton__task_brief',
  listedTool: 'tool_search',
  toolTitle: expect.stringContaining('task_brief'),
  instructions: 'QWEN.md',
  ...settingsIn(
    '.qwen/settings.json',
    () => JSON.stringify({ general: { disableAutoUpdate: true } }),
    (content) => JSON.stringify({ ...fieldsInJson(content), disableAllHooks: true }),
  ),
  transcripts: ({ home }) => `${home}/.qwen/projects/*/chats/*.jsonl`,
  outOfCredits: fails(402, 'billing_error', 'pay first'),
  rateLimited: () => fails(429, 'rate_limit_error', 'too many', { 'retry-after': '3600' }),
  usage: { input: 80, output: 7, cacheRead: 20, cacheWrite: 0, costMillicents: null },
  cannot: {
    limits: RETRIES,
    noInternet: RETRIES,
    settings: OWN_SETTINGS,
  },
};

export const copilotCase: ClientCase = {
  ...COMMON,
  adapter: adapterOf('copilot'),
  run: 'copilot',
  startModel: startOpenaiChat,
  model: 'scripted-model',
  env: ({ model }) => ({
    COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'dummy',
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_MODEL: 'scripted-model',
    COPILOT_OFFLINE: 'true',
  }),
  shell: (command) => uses('bash', { command, description: 'a command' }),
  callsTool: [uses('baton-task_brief', {})],
  toolName: 'baton-task_brief',
  instructions: 'AGENTS.md',
  ...settingsIn('.copilot/config.json', () => JSON.stringify({ banner: 'never' }), withOwnHook),
  transcripts: ({ home }) => `${home}/.copilot/session-state/*/events.jsonl`,
  outOfCredits: fails(402, 'billing_error', 'pay first'),
  rateLimited: () => fails(429, 'rate_limit_error', 'too many', { 'retry-after': '3600' }),
  usage: { input: 80, output: 7, cacheRead: 20, cacheWrite: 0, costMillicents: null },
  cannot: {
    errorKinds: 'it writes errors as its own words, and its turn ends as any other',
    limits: 'it writes errors as its own words, and its turn ends as any other',
    noInternet: 'it writes errors as its own words, and its turn ends as any other',
    settings: OWN_SETTINGS,
  },
};

export const grokCase: ClientCase = {
  ...COMMON,
  adapter: adapterOf('grok'),
  run: 'grok',
  startModel: startOpenai,
  model: 'grok-4.5',
  env: ({ model }) => ({ XAI_API_KEY: 'dummy', GROK_XAI_API_BASE_URL: `${model.url}/v1` }),
  shell: (command) => uses('run_terminal_command', { command, description: 'a command' }),
  callsTool: [
    uses('search_tool', { query: 'task_brief' }),
    uses('use_tool', { tool_name: 'baton__task_brief', tool_input: {} }),
  ],
  toolName: 'baton__task_brief',
  listedTool: 'search_tool',
  toolTitle: 'use_tool',
  instructions: 'AGENTS.md',
  ...settingsIn(
    '.grok/config.toml',
    () => '[cli]\nauto_update = false\n',
    (content) => `${content}[hooks]\n`,
  ),
  transcripts: ({ home }) => `${home}/.grok/sessions/*/*/chat_history.jsonl`,
  outOfCredits: fails(402, 'billing_error', 'pay first'),
  rateLimited: () => fails(429, 'rate_limit_error', 'too many', { 'retry-after': '3600' }),
  usage: { input: 80, output: 7, cacheRead: 20, cacheWrite: 0, costMillicents: null },
  cannot: {
    limits: RETRIES,
    noInternet: RETRIES,
    settings: OWN_SETTINGS,
    instructions: 'it reads them in folders that its user has trusted, and trust covers hooks of the project too',
  },
};

export const claudeAcpCase: ClientCase = {
  ...claudeCase,
  ...COMMON,
  adapter: adapterOf('claude-acp'),
  run: 'claude-acp',
  // An alias that the client resolves with its own list.
  model: 'sonnet',
  reportedModel: /^claude-sonnet-/,
  env: ({ model, temporary }) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'dummy-key-00000000000000000000',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
    CLAUDE_CODE_TMPDIR: temporary,
  }),
  ...settingsIn('.claude/settings.json', () => JSON.stringify({ includeCoAuthoredBy: false }), withOwnHook),
  outOfCredits: fails(402, 'billing_error', 'pay first'),
  rateLimited: () => fails(429, 'rate_limit_error', 'too many', { 'retry-after': '3600' }),
  errorWords: expect.stringContaining('401'),
  cannot: {
    outOfCredits: 'its kind of a 402 is `unknown`',
    limits: NO_END,
  },
};

const { record: _, ...codexWithoutRecord } = codexCase;

export const codexAcpCase: ClientCase = {
  ...codexWithoutRecord,
  ...COMMON,
  adapter: adapterOf('codex-acp'),
  run: 'codex-acp',
  callsTool: [uses('tool_search', { query: 'task_brief' }), uses('mcp__baton__task_brief', {})],
  toolName: 'mcp__baton__task_brief',
  toolTitle: 'mcp.baton.task_brief',
  unauthorized: codexCase.unauthorized,
  // The client accepts only models in its list or in the user's settings.
  setUp: (world) => {
    codexCase.setUp(world);
    const file = join(world.home, '.codex/config.toml');
    writeFileSync(file, `model = "${codexCase.model}"\n${readFileSync(file, 'utf8')}`);
  },
  sabotage: ({ home }) => `echo 'hooks = false' >> ${join(home, '.codex/config.toml')}`,
  cannot: {
    outOfCredits: 'a limit of the plan and an exhausted quota are the same code',
    limits: NO_END,
  },
};

export const geminiAcpCase: ClientCase = {
  ...geminiCase,
  ...COMMON,
  adapter: adapterOf('gemini-acp'),
  run: 'gemini-acp',
  unauthorized: geminiCase.unauthorized,
  toolTitle: expect.stringContaining('task_brief'),
  transcripts: ({ home }) => `${home}/.gemini/tmp/*/chats/*.jsonl`,
  // The client does not count cached tokens separately.
  usage: { input: 100, output: 7, cacheRead: 0, cacheWrite: 0, costMillicents: null },
  cannot: { resume: 'its `session/load` overwrites what it loads', limits: NO_END },
};

export const ACP_CASES: readonly ClientCase[] = [
  opencodeCase,
  qwenCase,
  copilotCase,
  grokCase,
  claudeAcpCase,
  codexAcpCase,
  geminiAcpCase,
];

function adapterOf(run: string): Adapter {
  const found = ACP_ADAPTERS.find((adapter) => adapter.runs(run));
  if (found === undefined) throw new Error(`there is no preset ${run}`);
  return found;
}

/** A settings file in the user's home, and an agent's command that changes it. */
function settingsIn(
  file: string,
  content: (world: World) => string,
  sabotaged: (content: string) => string,
): Pick<ClientCase, 'setUp' | 'settings' | 'pointTo' | 'sabotage'> {
  const read = ({ home }: World): string => readFileSync(join(home, file), 'utf8');
  return {
    setUp: (world) => {
      mkdirSync(dirname(join(world.home, file)), { recursive: true });
      writeFileSync(join(world.home, file), content(world));
    },
    pointTo: (world) =>
      writeFileSync(join(world.home, file), read(world).replace(/http:\/\/127[^"]+/, `${world.model.url}/v1`)),
    settings: read,
    sabotage: (world) => `cat > ${join(world.home, file)} <<'END'\n${sabotaged(read(world))}\nEND`,
  };
}

/**
 * Settings with the agent's own hooks, in the format of Claude Code, which end its turn. Baton's driver asks the
 * supervisor anyway.
 */
function withOwnHook(content: string): string {
  const hook = { type: 'command', command: `echo '{"continue":false}'` };
  return JSON.stringify({ ...fieldsInJson(content), hooks: { Stop: [{ hooks: [hook] }] } });
}
