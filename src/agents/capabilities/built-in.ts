import type { AdapterProfile } from './capabilities.ts';

/**
 * The three clients with their own adapters. `npm run test:clients` runs the real programs and covers most answers. One
 * fact was checked only by hand: Claude Code with an API key gives up on a long rate limit.
 */
export const CLAUDE_PROFILE: AdapterProfile = {
  title: 'Claude Code',
  program: 'claude',
  package: '@anthropic-ai/claude-code',
  tested: ['2.1.197', '2.1.325'],
  env: { DISABLE_AUTOUPDATER: '1' },
  capabilities: {
    gate: 'http-hook',
    hooks: ['Stop', 'StopFailure', 'Notification', 'PostToolUse', 'PreToolUse', 'PermissionRequest'],
    message: 'at-once',
    resume: 'conversation',
    permissions: 'asked',
    usage: 'request',
    budget: 'held',
    cost: 'reported',
    errors: 'kind',
    limits: 'subscription',
    mcp: 'http',
    verdict: 'matched',
    sandbox: 'inside',
    shell: 'separate',
    login: 'your login; the session also gets `apiKeyHelper` and `env` of your settings',
  },
};

export const CODEX_PROFILE: AdapterProfile = {
  title: 'Codex',
  program: 'codex',
  package: '@openai/codex',
  tested: ['0.166.0'],
  capabilities: {
    gate: 'command-hook',
    hooks: ['Stop', 'PreToolUse'],
    message: 'next-stop',
    resume: 'conversation',
    permissions: 'none',
    usage: 'request',
    budget: 'held',
    cost: 'price-list',
    errors: 'kind',
    limits: 'subscription',
    mcp: 'search',
    verdict: 'matched',
    sandbox: 'own-off',
    shell: 'separate',
    login: 'your login, with all settings',
  },
};

export const GEMINI_PROFILE: AdapterProfile = {
  title: 'Gemini CLI',
  program: 'gemini',
  package: '@google/gemini-cli',
  tested: ['0.61.0'],
  env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
  capabilities: {
    gate: 'command-hook',
    hooks: ['AfterAgent', 'BeforeTool'],
    message: 'next-stop',
    resume: 'conversation',
    permissions: 'none',
    usage: 'request',
    budget: 'held',
    cost: 'price-list',
    errors: 'kind',
    limits: 'named',
    mcp: 'http',
    verdict: 'matched',
    sandbox: 'own-off',
    shell: 'separate',
    login:
      'a link to your login; the session also gets `security.auth`, `general`, `model` and `privacy` of your settings',
  },
};
