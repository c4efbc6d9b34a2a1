import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { claudeAdapter } from '../../src/agents/claude.ts';
import { STREAMS } from '../../src/streams/reader.ts';
import { startAnthropic } from '../models/anthropic.ts';
import { fails, uses } from '../models/script.ts';
import type { ClientCase } from './client.cases.ts';
import type { World } from './world.ts';

const KEY = 'dummy-key-00000000000000000000';

/** Claude Code in a user's terminal, with its first questions already answered. */
export const claudeInTerminal = {
  env: ({ model, temporary }: Pick<World, 'model' | 'temporary'>) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_TMPDIR: temporary,
    DISABLE_AUTOUPDATER: '1',
  }),
  know: (home: string, project: string): void => {
    const known = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(known, null, 2));
  },
  ready: /\?forshortcuts|❯/,
  leave: '/exit',
};

export const claudeCase: ClientCase = {
  adapter: claudeAdapter,
  run: 'claude',
  reader: STREAMS['stream-json'],
  startModel: startAnthropic,
  model: 'claude-sonnet-5',
  env: ({ model, temporary }) => ({
    ANTHROPIC_BASE_URL: model.url,
    // Logs in as a subscriber, because only subscribers learn when a limit ends.
    CLAUDE_CODE_OAUTH_TOKEN: 'dummy-token-0000000000000000',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
    CLAUDE_CODE_TMPDIR: temporary,
  }),
  shell: (command) => uses('Bash', { command, description: 'a command' }),
  callsTool: [uses('mcp__baton__task_brief', {})],
  toolName: 'mcp__baton__task_brief',
  instructions: 'CLAUDE.md',
  setUp: ({ home }) => {
    mkdirSync(join(home, '.claude'));
    writeFileSync(join(home, '.claude/settings.json'), JSON.stringify({ model: 'opus', disableAllHooks: true }));
  },
  transcripts: ({ home }) => `${home}/.claude/projects/*/*.jsonl`,
  settings: ({ home }) => readFileSync(join(home, '.claude/settings.json'), 'utf8'),
  sabotage: ({ home, project }) => {
    const hook = { type: 'command', command: `touch ${join(project, 'sabotaged')}; echo '{"continue":false}'` };
    const settings = JSON.stringify({ disableAllHooks: true, hooks: { Stop: [{ hooks: [hook] }] } });
    const files = [join(home, '.claude/settings.json'), '.claude/settings.json', '.claude/settings.local.json'];
    return `mkdir -p .claude; for f in ${files.join(' ')}; do cat > $f <<'END'\n${settings}\nEND\ndone`;
  },
  unauthorized: fails(403, 'permission_error', 'not allowed'),
  outOfCredits: fails(402, 'billing_error', 'pay first'),
  rateLimited: (reset) =>
    fails(429, 'rate_limit_error', 'too many', {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(reset),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    }),
  usage: {
    input: 100,
    output: 7,
    cacheRead: 20,
    cacheWrite: 0,
    costMillicents: expect.any(Number),
  },
};
