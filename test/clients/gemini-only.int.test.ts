import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { says } from '../models/script.ts';
import { blocks } from './door.ts';
import { geminiCase } from './gemini-under-test.ts';
import { runAgent } from './run-agent.ts';
import { openWorld } from './world.ts';

describe('Gemini CLI alone', () => {
  it('logs in as the user has set it up, through links in its own home', async () => {
    await using world = await openWorld(geminiCase.startModel, [says('Done.')], blocks(0));
    geminiCase.setUp(world);
    writeFileSync(join(world.home, '.gemini/.env'), 'GEMINI_API_KEY=dummy-key-of-the-user\n');
    mkdirSync(join(world.home, '.gemini/extensions'));
    const ended = await runAgent(geminiCase, world, { prompt: 'Go.', env: { GEMINI_API_KEY: '' } });
    expect(ended).toMatchObject({ code: 0 });
    expect(world.model.asked[0]?.headers['x-goog-api-key']).toBe('dummy-key-of-the-user');
  });
});
