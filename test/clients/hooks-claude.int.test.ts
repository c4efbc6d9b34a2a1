import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startAnthropic } from '../models/anthropic.ts';
import { uses } from '../models/script.ts';
import { claudeInTerminal } from './claude-under-test.ts';
import { describeOwnSession } from './hooks.cases.ts';

const { env, know, ready, leave } = claudeInTerminal;

describeOwnSession({
  name: 'claude',
  startModel: startAnthropic,
  argv: ['claude', '--model', 'claude-sonnet-5', '--permission-mode', 'acceptEdits'],
  env,
  setUp: ({ home, project }) => {
    mkdirSync(join(home, '.claude'));
    mkdirSync(join(home, 'dotfiles'));
    // A link into a folder of dotfiles, CRLF, no final line end, another hook.
    const settings = [
      '{',
      '  "permissions": { "allow": ["mcp__baton", "Bash"] },',
      '  "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "true" } ] } ] }',
      '}',
    ];
    writeFileSync(join(home, 'dotfiles/claude.json'), settings.join('\r\n'));
    symlinkSync('../dotfiles/claude.json', join(home, '.claude/settings.json'));
    know(home, project);
  },
  ready,
  shell: (command) => uses('Bash', { command, description: 'a command' }),
  claim: [uses('mcp__baton__task_claim', { task_id: 'T1', as: 'ada' })],
  leave,
  configs: ['.claude.json', '.claude/settings.json'],
  ownFiles: /\.claude\.json|\/\.claude\/(?!settings\.json$)|\/\.(?:cache|local|npm|config)\//,
});
