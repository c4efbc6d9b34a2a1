import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fails, says, uses, type Script } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import { conversation, stops, textIn } from './client.cases.ts';
import { blocks, type Answer } from './door.ts';
import { keepStream } from './keep-stream.ts';
import { runAgent } from './run-agent.ts';
import { openWorld } from './world.ts';

const open = (script: Script, answer: Answer = blocks(0)) => openWorld(claudeCase.startModel, script, answer);
const sh = claudeCase.shell;

describe('Claude Code alone', () => {
  it('receives messages in the middle of a turn and while it waits, in one process', async () => {
    const script = [sh('while [ ! -e go ]; do sleep 0.05; done'), says('One.'), says('Two.')];
    await using world = await open(script);
    let turns = 0;
    const { code, said } = await runAgent(claudeCase, world, {
      prompt: 'First.',
      onSaid: ({ kind }, { tell, hangUp }) => {
        if (kind === 'tool-started') {
          tell('In the middle.');
          writeFileSync(join(world.project, 'go'), '');
        }
        if (kind !== 'turn-ended') return;
        turns += 1;
        if (turns === 1) tell('While it waits.');
        else hangUp();
      },
    });
    expect(code).toBe(0);
    expect(textIn(world.model.asked[1])).toContain('In the middle.');
    expect(textIn(world.model.asked[2])).toContain('While it waits.');
    expect(textIn(world.model.asked[2])).toContain('First.');
    const used = said.filter((each) => each.kind === 'usage').map(({ usage, of }) => [of, usage.input, usage.output]);
    // A message is reported when it begins, for each of its blocks; its turn is reported at its end.
    expect(new Set(used.filter(([of]) => of === 'message').map(String))).toEqual(new Set(['message,100,1']));
    expect(used.filter(([of]) => of === 'turn')).toEqual([
      ['turn', 200, 14],
      ['turn', 100, 7],
    ]);
  });

  it('asks the supervisor for permission, and treats a missing answer as a denial', async () => {
    const write = uses('Write', { file_path: '.claude/settings.json', content: '{}' });
    await using world = await open([write, says('Done.'), write, says('Done.')]);
    const refused = await runAgent(claudeCase, world, { prompt: 'Go.' });
    keepStream('claude', 'permission', refused.lines, world);
    const asked = world.door.hooks.filter(({ name }) => name === 'permission-request');
    expect(asked.map(({ input }) => input['tool_name'])).toEqual(['Write']);
    expect(refused.said).toContainEqual(expect.objectContaining({ kind: 'permission', tool: 'Write' }));
    expect(existsSync(join(world.project, '.claude/settings.json'))).toBe(false);
    world.door.answerWith(({ name }) => (name === 'permission-request' ? ALLOW : {}));
    await runAgent(claudeCase, world, { prompt: 'Go on.', resume: conversation(refused) });
    expect(existsSync(join(world.project, '.claude/settings.json'))).toBe(true);
  });

  it('reports an API error at its hook, and waits by itself if the wait is short', async () => {
    const limit = fails(429, 'rate_limit_error', 'too many', { 'retry-after': '1' });
    await using world = await open([limit, says('Fine.'), fails(529, 'overloaded_error', 'Overloaded')]);
    const env = {
      CLAUDE_CODE_OAUTH_TOKEN: '',
      ANTHROPIC_API_KEY: 'dummy-key-0000000000000000',
      CLAUDE_CODE_MAX_RETRIES: '1',
    };
    const waited = await runAgent(claudeCase, world, { prompt: 'Go.', env });
    keepStream('claude', 'retried', waited.lines, world);
    const retry = waited.said.find((each) => each.kind === 'error');
    expect(retry).toMatchObject({ error: 'rate_limited', isRetrying: true });
    expect(waited.code).toBe(0);
    const failed = await runAgent(claudeCase, world, {
      prompt: 'Again.',
      env: { ...env, CLAUDE_CODE_MAX_RETRIES: '0' },
    });
    keepStream('claude', 'overloaded', failed.lines, world);
    expect(failed.said).toContainEqual(
      expect.objectContaining({ kind: 'error', error: 'rate_limited', resetAt: null }),
    );
    expect(world.door.hooks.at(-1)).toMatchObject({ name: 'stop-failure', input: { error: 'server_error' } });
  });

  it('logs in as the user has set it up', async () => {
    await using world = await open([says('Done.')]);
    mkdirSync(join(world.home, '.claude'));
    const settings = { apiKeyHelper: 'echo dummy-key-of-the-helper', hooks: { Stop: [] } };
    writeFileSync(join(world.home, '.claude/settings.json'), JSON.stringify(settings));
    await runAgent(claudeCase, world, { prompt: 'Go.', env: { CLAUDE_CODE_OAUTH_TOKEN: '' } });
    expect(JSON.stringify(world.model.asked[0]?.headers)).toContain('dummy-key-of-the-helper');
    expect(stops(world)).toHaveLength(1);
  });
});

const ALLOW = { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } } };
