import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codexAdapter } from '../../src/agents/codex.ts';
import { codexRolloutPattern } from '../../src/streams/codex.ts';
import { STREAMS } from '../../src/streams/reader.ts';
import { startOpenai } from '../models/openai.ts';
import { fails, uses } from '../models/script.ts';
import { type ClientCase, conversation } from './client.cases.ts';
import type { Ended } from './run-agent.ts';
import type { World } from './world.ts';

export const codexCase: ClientCase = {
  adapter: codexAdapter,
  run: 'codex',
  reader: STREAMS.codex,
  startModel: startOpenai,
  model: 'gpt-5.5-codex',
  env: () => ({ SCRIPTED_KEY: 'dummy' }),
  shell: (cmd) => uses('exec_command', { cmd }),
  callsTool: [uses('tool_search', { query: 'task_brief' }), uses('mcp__baton_run__task_brief', {})],
  toolName: 'mcp__baton_run__task_brief',
  instructions: 'AGENTS.md',
  setUp: ({ home, model }) => {
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), config(model.url));
  },
  pointTo: ({ home, model }) => {
    const file = join(home, '.codex/config.toml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/http:[^"]+/, `${model.url}/v1`));
  },
  transcripts: ({ home }) => `${home}/.codex/sessions/*/*/*/*.jsonl`,
  settings: ({ home }) => readFileSync(join(home, '.codex/config.toml'), 'utf8'),
  sabotage: ({ home, project, model }) => {
    const hook = { type: 'command', command: `touch ${join(project, 'sabotaged')}; echo '{"continue":false}'` };
    const files = {
      [join(home, '.codex/config.toml')]: `${config(model.url)}hooks = false\n${OFF}${trust(project)}`,
      [join(home, '.codex/hooks.json')]: JSON.stringify({ hooks: { Stop: [{ hooks: [hook] }] } }),
      '.codex/config.toml': '[features]\nhooks = false\n',
      '.codex/hooks.json': JSON.stringify({ hooks: { Stop: [{ hooks: [hook] }] } }),
    };
    const writes = Object.entries(files).map(([path, text]) => `cat > ${path} <<'END'\n${text}\nEND`);
    return ['mkdir -p .codex', ...writes].join('\n');
  },
  unauthorized: fails(401, 'invalid_api_key', 'the key is wrong'),
  outOfCredits: fails(429, 'insufficient_quota', 'You exceeded your current quota'),
  rateLimited: (reset) =>
    fails(
      429,
      'usage_limit_reached',
      'The usage limit has been reached',
      {
        'x-codex-primary-used-percent': '100',
        'x-codex-primary-window-minutes': '300',
        'x-codex-primary-reset-at': String(reset),
      },
      { plan_type: 'plus', resets_at: reset },
    ),
  record: (ended, world) =>
    rollout(ended, world).filter((line) => /"(turn_context|token_count|task_complete)"/.test(line)),
  usage: { input: 80, output: 7, cacheRead: 20, cacheWrite: 0, costMillicents: null },
};

/** Disables the hook of the command line by its name. */
const OFF = '[hooks.state."/<session-flags>/config.toml:stop:0:0"]\nenabled = false\ntrusted_hash = "sha256:00"\n';

function trust(project: string): string {
  return `[projects."${project}"]\ntrust_level = "trusted"\n`;
}

function config(url: string): string {
  return `
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[features]
plugins = false
`;
}

function rollout(ended: Ended, { home }: World): readonly string[] {
  const folder = join(home, '.codex');
  const [file] = globSync(codexRolloutPattern(conversation(ended)), { cwd: folder });
  if (file === undefined) throw new Error('Codex has kept nothing of the conversation');
  return readFileSync(join(folder, file), 'utf8').split('\n');
}
