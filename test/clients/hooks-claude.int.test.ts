import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startAnthropic } from '../models/anthropic.ts';
import { uses } from '../models/script.ts';
import { describeOwnSession } from './hooks.cases.ts';

const KEY = 'dummy-key-00000000000000000000';

describeOwnSession({
  name: 'claude',
  startModel: startAnthropic,
  argv: ['claude', '--model', 'claude-sonnet-5', '--permission-mode', 'acceptEdits'],
  env: ({ model, temporary }) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_TMPDIR: temporary,
    DISABLE_AUTOUPDATER: '1',
  }),
  setUp: ({ home, project }) => {
    mkdirSync(join(home, '.claude'));
    mkdirSync(join(home, 'dotfiles'));
    // A link into a folder of dotfiles, CRLF, no line end at the end, another hook.
    const settings = [
      '{',
      '  "permissions": { "allow": ["mcp__baton", "Bash"] },',
      '  "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "true" } ] } ] }',
      '}',
    ];
    writeFileSync(join(home, 'dotfiles/claude.json'), settings.join('\r\n'));
    symlinkSync('../dotfiles/claude.json', join(home, '.claude/settings.json'));
    const known = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(known, null, 2));
  },
  ready: /\?forshortcuts|❯/,
  shell: (command) => uses('Bash', { command, description: 'a command' }),
  claim: [uses('mcp__baton__task_claim', { task_id: 'T1', as: 'ada' })],
  leave: '/exit',
  configs: ['.claude.json', '.claude/settings.json'],
  ownFiles: /\.claude\.json|\/\.claude\/(?!settings\.json$)|\/\.(?:cache|local|npm|config)\//,
});
