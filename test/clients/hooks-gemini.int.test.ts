import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGemini } from '../models/gemini.ts';
import { uses } from '../models/script.ts';
import { geminiInTerminal } from './gemini-under-test.ts';
import { describeOwnSession } from './hooks.cases.ts';

describeOwnSession({
  name: 'gemini',
  startModel: startGemini,
  argv: ['gemini', '--model', 'gemini-2.5-pro', '--approval-mode', 'yolo', '--skip-trust'],
  env: ({ model }) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: model.url }),
  setUp: ({ home }) => {
    mkdirSync(join(home, '.gemini'));
    // Comments, tabs, and another MCP server.
    const settings = `{
	// How I log in.
	"security": { "auth": { "selectedType": "gemini-api-key" } },
	"general": { "maxAttempts": 1, "enableAutoUpdate": false }, /* no updates */
	"mcpServers": {} // none yet
}
`;
    writeFileSync(join(home, '.gemini/settings.json'), settings);
  },
  ready: /Tipsforgettingstarted/,
  shell: (command) => uses('run_shell_command', { command }),
  claim: [uses('mcp_baton_task_claim', { task_id: 'T1', as: 'ada' })],
  ...geminiInTerminal,
  configs: ['.gemini/settings.json'],
  ownFiles: /\/\.gemini\/(?!settings\.json$)|\/\.(?:cache|local|npm|config)\//,
});
