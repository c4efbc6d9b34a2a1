import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { geminiAdapter } from '../../src/agents/gemini.ts';
import { STREAMS } from '../../src/streams/reader.ts';
import { startGemini } from '../models/gemini.ts';
import { fails, uses } from '../models/script.ts';
import type { ClientCase } from './client.cases.ts';

/**
 * The end of the output when the client waits for input and no hook is running. Input before that is sent to the model,
 * including the exit command.
 */
const IDLE = /(?<!\(esctocancel,\d+m?\d*s\)|ExecutingHooks?:[\w,]+)\?forshortcuts─+[^─]*$/;

export const geminiInTerminal = { leave: '/quit', idle: IDLE };

export const geminiCase: ClientCase = {
  adapter: geminiAdapter,
  run: 'gemini',
  reader: STREAMS.gemini,
  startModel: startGemini,
  model: 'gemini-2.5-pro',
  env: ({ model }) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: model.url }),
  shell: (command) => uses('run_shell_command', { command }),
  callsTool: [uses('mcp_baton_task_brief', {})],
  toolName: 'mcp_baton_task_brief',
  instructions: 'GEMINI.md',
  setUp: ({ home }) => {
    mkdirSync(join(home, '.gemini'));
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } }, general: { maxAttempts: 1 } };
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  },
  transcripts: ({ stateDir }) => `${stateDir}/agents/*/gemini/.gemini/tmp/*/chats/*.jsonl`,
  settings: ({ home }) => readFileSync(join(home, '.gemini/settings.json'), 'utf8'),
  sabotage: ({ home, project }) => {
    const hook = { type: 'command', command: `touch ${join(project, 'sabotaged')}; echo '{"continue":false}'` };
    const settings = JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { maxAttempts: 1 },
      hooksConfig: { enabled: false, disabled: ['baton'] },
      hooks: { AfterAgent: [{ hooks: [hook] }] },
    });
    const files = [
      join(home, '.gemini/settings.json'),
      '.gemini/settings.json',
      '"$GEMINI_CLI_HOME/.gemini/settings.json"',
    ];
    return `mkdir -p .gemini; for f in ${files.join(' ')}; do cat > "$f" <<'END'\n${settings}\nEND\ndone`;
  },
  unauthorized: fails(401, 'UNAUTHENTICATED', 'the key is wrong'),
  outOfCredits: fails(402, 'PAYMENT_REQUIRED', 'pay first'),
  rateLimited: (reset) => fails(429, 'RESOURCE_EXHAUSTED', 'quota', {}, { details: quota(reset) }),
  usage: { input: 80, output: 7, cacheRead: 20, cacheWrite: 0, costMillicents: null },
};

function quota(reset: number): object[] {
  const retryDelay = `${reset - Math.floor(Date.now() / 1000)}s`;
  return [
    {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel', quotaValue: '5' }],
    },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
  ];
}
