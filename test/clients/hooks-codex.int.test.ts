import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { codexHooks } from '../../src/hooks/codex.ts';
import { findMachine } from '../../src/hooks/command-line.ts';
import { installHooks } from '../../src/hooks/install.ts';
import { startOpenai } from '../models/openai.ts';
import { says, uses } from '../models/script.ts';
import { stops } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';
import { blocks } from './door.ts';
import { describeOwnSession } from './hooks.cases.ts';
import { runAgent } from './run-agent.ts';
import { openWorld } from './world.ts';

describeOwnSession({
  name: 'codex',
  startModel: startOpenai,
  argv: ['codex', '--model', 'gpt-5.5-codex', '--sandbox', 'danger-full-access', '--ask-for-approval', 'never'],
  env: () => ({ SCRIPTED_KEY: 'dummy' }),
  setUp: ({ home, model, project }) => {
    mkdirSync(join(home, '.codex'));
    // Comments, the user's own hook, and no final line end.
    const config = `# My own settings.
model_provider = "scripted"   # on this machine
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${model.url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[features]
plugins = false

[projects."${project}"]
trust_level = "trusted"

[tui]
screen_reader_detection_done = true
show_tooltips = false # the last line`;
    writeFileSync(join(home, '.codex/config.toml'), config);
  },
  ready: /›|model:/,
  shell: (cmd) => uses('exec_command', { cmd }),
  claim: [uses('tool_search', { query: 'task_claim' }), uses('mcp__baton__task_claim', { task_id: 'T1', as: 'ada' })],
  leave: '/quit',
  configs: ['.codex/config.toml'],
  ownFiles: /\/\.codex\/(?!config\.toml$)|\/\.(?:cache|local|npm|config)\//,
});

it("codex: an agent that Baton runs is unaffected by its user's settings", async () => {
  await using world = await openWorld(startOpenai, [...codexCase.callsTool, says('Done.')], blocks(0));
  codexCase.setUp(world);
  const machine = findMachine({ HOME: world.home, BATON_STATE_DIR: world.stateDir });
  const options = { onStop: 'signal', claim: true } as const;
  expect(installHooks(codexHooks, { scope: { kind: 'user' }, options, machine })).toMatchObject({ ok: true });
  const ended = await runAgent(codexCase, world, { prompt: 'Go.', plan: { model: codexCase.model } });
  expect(ended).toMatchObject({ code: 0 });
  expect(stops(world)).toHaveLength(1);
  expect(world.door.mcpCalls).toHaveLength(1);
});
