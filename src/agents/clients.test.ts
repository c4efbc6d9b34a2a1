import { describe, expect, it } from 'vitest';
import { allowedEnvironment } from '../protocol/environment.ts';
import { agentFiles } from '../supervisor/contract.ts';
import type { Adapter, AgentContext, LaunchParts } from './adapter.ts';
import { claudeAdapter } from './claude.ts';
import { codexAdapter, hookFlags } from './codex.ts';
import { geminiAdapter } from './gemini.ts';
import { clientVariables, isInteractive, prepareAgent } from './prepare-agent.ts';

const CONTEXT: AgentContext = {
  agentId: 'agent-1',
  start: 1,
  prompt: 'a secret plan',
  isResume: false,
  conversation: null,
  stateDir: '/state',
  cwd: '/project',
  programs: {
    supervisor: '/s',
    stopHook: "/it's/hook.cjs",
    scripted: '/x',
    builtin: '/builtin.cjs',
    acpDriver: '/acp.cjs',
    networkHelper: '/n',
    shellForward: '/n',
    baton: '/b',
  },
};
const ADAPTERS = { claude: claudeAdapter, codex: codexAdapter, gemini: geminiAdapter };

describe.each(Object.entries(ADAPTERS))('how %s is started', (run, adapter) => {
  it('accepts its own name and no other', () => {
    expect([run, `${run} --flag`, `my-${run}`, 'sh'].map((each) => adapter.runs(each))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('keeps the prompt out of the command line, which every user of the machine can read', () => {
    expect(prepare(adapter).argv.join(' ')).not.toContain('secret');
    expect(prepare(adapter).prompt).toBe('a secret plan');
  });

  it('is refused without a prompt, since it would wait on standard input forever', () => {
    for (const prompt of [null, '', ' \n'])
      expect(prepareAgent({ name: 'coder', run }, { ...CONTEXT, prompt })).toEqual({
        ok: false,
        reason: 'the agent coder has no prompt: set its `prompt` or `prompt_file`',
      });
    expect(prepareAgent({ name: 'coder', run }, { ...CONTEXT, prompt: null, isAttached: true }).ok).toBe(true);
  });

  it("passes the plan's model on", () => {
    expect(prepare(adapter).argv).not.toContain('a-model');
    expect(prepare(adapter, CONTEXT, 'a-model').argv).toContain('a-model');
  });

  it('resumes a known conversation, and starts a new one otherwise', () => {
    const resumed = { ...CONTEXT, isResume: true, conversation: 'conversation-1' };
    expect(prepare(adapter, resumed).argv).toContain('conversation-1');
    expect(prepare(adapter, { ...resumed, conversation: null }).argv).toEqual(prepare(adapter).argv);
  });

  it("writes inside of the agent's folder only", () => {
    for (const { path } of prepare(adapter, withUser({})).files) expect(path).toMatch(/^\/state\/agents\/agent-1\//);
  });
});

describe.each(Object.entries(ADAPTERS))('%s in a terminal', (_, adapter) => {
  const resumed = { ...CONTEXT, prompt: null, isResume: true, conversation: 'conversation-1', isAttached: true };

  it('runs in interactive mode in the same conversation', () => {
    const { argv } = attach(adapter, resumed);
    expect(argv).toContain('conversation-1');
    for (const word of ['-p', 'exec', '--output-format', '--json', '-']) expect(argv).not.toContain(word);
  });

  it('has the same hooks and MCP server as without a terminal', () => {
    const [alone, attached] = [prepare(adapter, { ...resumed, prompt: 'x' }), attach(adapter, resumed)];
    const said = ({ argv, files }: LaunchParts): string => [...argv, ...files.map(({ content }) => content)].join('\n');
    for (const mark of [/\$\{BATON_URL\}\/mcp/, /hook\/stop|hook\.cjs/])
      expect([mark.test(said(alone)), mark.test(said(attached))]).toEqual([true, true]);
    expect(attached.env).toEqual(alone.env);
  });

  it('asks the person for permissions', () => {
    expect(
      attach(adapter, resumed)
        .files.map(({ content }) => content)
        .join(''),
    ).not.toContain('permission-request');
  });

  it('starts with its prompt if there is no conversation yet', () => {
    expect(attach(adapter, { ...resumed, prompt: 'begin', conversation: null }).argv.at(-1)).toBe('begin');
  });
});

it.each([
  ['claude', true],
  ['codex', true],
  ['gemini', true],
  ['scripted a.yaml', true],
  ['builtin:prep', false],
  ['./my-agent.sh', false],
])('%s has an interactive mode: %s', (run, expected) => {
  expect(isInteractive({ run })).toBe(expected);
});

describe("the user's own setup", () => {
  const settings = {
    apiKeyHelper: 'get-key',
    security: { auth: { selectedType: 'oauth-personal' }, folderTrust: { enabled: false } },
    hooks: { Stop: ['theirs'], AfterAgent: ['theirs'] },
    hooksConfig: { enabled: false },
    disableAllHooks: true,
    permissions: { deny: ['Bash'] },
  };

  it('passes the login of Claude Code on, and no hook', () => {
    const [file] = prepare(claudeAdapter, withUser(settings)).files;
    expect(JSON.parse(file?.content ?? '')).toMatchObject({ apiKeyHelper: 'get-key', disableAllHooks: false });
    expect(file?.content).not.toMatch(/theirs|permissions/);
  });

  it('passes the login of Gemini CLI on, as settings and links, and no hook', () => {
    const [file, ...links] = prepare(geminiAdapter, withUser(settings)).files;
    const written: unknown = JSON.parse(file?.content ?? '');
    expect(written).toMatchObject({
      security: { auth: { selectedType: 'oauth-personal' } },
      hooksConfig: { enabled: true },
    });
    expect(file?.content).not.toMatch(/theirs|folderTrust|permissions/);
    expect(links.map(({ link }) => link)).toEqual(['/home/.client/oauth_creds.json']);
  });
});

describe('the stop hook of Codex', () => {
  it('is trusted by the hash that Codex itself computes', () => {
    // The hash that `hooks/list` of `codex app-server` reports for this hook.
    expect(hookFlags({ Stop: '/x/hook.sh', PreToolUse: '/x/tool.sh' }).join(' ')).toContain(
      'sha256:750893a1a04a5117e51f561225b98a964d072094582abee8d86b929be697f8a4',
    );
  });
});

function withUser(settings: Readonly<Record<string, unknown>>): AgentContext {
  const entries = ['settings.json', 'oauth_creds.json', 'tmp', 'extensions', 'trustedFolders.json'];
  return { ...CONTEXT, user: { folder: '/home/.client', entries, settings } };
}

function attach(adapter: Adapter, context: AgentContext): LaunchParts {
  const files = agentFiles(context.stateDir, context.agentId);
  const prepared = adapter.attach?.({ name: 'a', run: '' }, context, files);
  if (prepared?.ok !== true) throw new Error(prepared?.reason);
  return prepared.launch;
}

function prepare(adapter: Adapter, context: AgentContext = CONTEXT, model?: string): LaunchParts {
  const plan = { name: 'a', run: '', ...(model !== undefined && { model }) };
  const prepared = adapter.prepare(plan, context, agentFiles(context.stateDir, context.agentId));
  if (!prepared.ok) throw new Error(prepared.reason);
  return prepared.launch;
}

describe('the variables that a client gets', () => {
  const ENV = {
    ANTHROPIC_API_KEY: 'x',
    CLAUDE_CODE_OAUTH_TOKEN: 'x',
    OPENAI_API_KEY: 'x',
    CODEX_HOME: 'x',
    GEMINI_API_KEY: 'x',
    GOOGLE_GEMINI_BASE_URL: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    MY_PROVIDER_KEY: 'x',
    BATON_GITHUB_WEBHOOK_SECRET: 'x',
  };
  const passed = (run: string, more: Record<string, string> = {}, variables: string[] = []): string[] => {
    const env = { ...ENV, ...more };
    const user = { folder: '', entries: [], settings: {}, variables };
    return Object.keys(allowedEnvironment(env, clientVariables({ run }, env, user)).passed);
  };

  it('are those of its own API, and of no other client', () => {
    expect(passed('claude')).toEqual(['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN']);
    expect(passed('codex')).toEqual(['OPENAI_API_KEY', 'CODEX_HOME']);
    expect(passed('gemini')).toEqual(['GEMINI_API_KEY', 'GOOGLE_GEMINI_BASE_URL']);
  });

  it('include those of a cloud only if the client is configured to use it', () => {
    expect(passed('claude', { CLAUDE_CODE_USE_BEDROCK: '1' })).toContain('AWS_SECRET_ACCESS_KEY');
    expect(passed('claude', { CLAUDE_CODE_USE_VERTEX: '1' })).toContain('GOOGLE_GEMINI_BASE_URL');
  });

  it("are those that the user's own Codex settings name as keys, but never the daemon's", () => {
    expect(passed('codex', {}, ['MY_PROVIDER_KEY', 'BATON_GITHUB_WEBHOOK_SECRET'])).toContain('MY_PROVIDER_KEY');
    expect(passed('codex', {}, ['BATON_GITHUB_WEBHOOK_SECRET'])).not.toContain('BATON_GITHUB_WEBHOOK_SECRET');
  });

  it('are none for scripts, built-in roles and commands, unless the command is a client', () => {
    for (const run of ['scripted a.yaml', 'builtin:prep', 'node agent.mjs', './claude.sh'])
      expect(passed(run)).toEqual([]);
    expect(passed('/usr/bin/claude -p "Do it."')).toEqual(['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN']);
  });
});
