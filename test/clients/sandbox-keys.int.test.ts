import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import type { INJECTABLE_SECRETS } from '../../src/protocol/sandbox.ts';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { says } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import { textIn, type ClientCase } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';
import { geminiCase } from './gemini-under-test.ts';
import { CLIENTS } from './run-agent.ts';
import { COMPLETE, openUser } from './with-daemon.ts';
import type { World } from './world.ts';

interface KeyCase {
  readonly client: ClientCase;
  readonly header: string;
  readonly prefix: string;
  readonly env: (world: World) => Readonly<Record<string, string>>;
  readonly files: (world: World) => Readonly<Record<string, string>>;
}

const CLAUDE = {
  client: claudeCase,
  header: 'x-api-key',
  prefix: '',
  env: ({ model }: World) => ({ ANTHROPIC_BASE_URL: model.url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
  files: () => ({}),
};
const CODEX = {
  client: codexCase,
  header: 'authorization',
  prefix: 'Bearer ',
  env: ({ model }: World) => ({ OPENAI_BASE_URL: `${model.url}/v1` }),
  files: () => ({ '.codex/config.toml': '[features]\nplugins = false\n' }),
};

const CASES: Readonly<Record<keyof typeof INJECTABLE_SECRETS, KeyCase>> = {
  // The user's settings contain the address, and a key that must not be used.
  ANTHROPIC_API_KEY: {
    ...CLAUDE,
    env: () => ({ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
    files: ({ model }) => ({
      '.claude/settings.json': JSON.stringify({
        env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-in-settings' },
        apiKeyHelper: 'echo key-in-settings',
      }),
    }),
  },
  ANTHROPIC_AUTH_TOKEN: { ...CLAUDE, header: 'authorization', prefix: 'Bearer ' },
  OPENAI_API_KEY: CODEX,
  CODEX_API_KEY: CODEX,
  GEMINI_API_KEY: {
    client: geminiCase,
    header: 'x-goog-api-key',
    prefix: '',
    env: ({ model }) => ({ GOOGLE_GEMINI_BASE_URL: model.url }),
    files: () => ({ '.gemini/settings.json': geminiSettings('gemini-api-key') }),
  },
  GOOGLE_API_KEY: {
    client: geminiCase,
    header: 'x-goog-api-key',
    prefix: '',
    env: ({ model }) => ({ GOOGLE_VERTEX_BASE_URL: model.url, GOOGLE_GENAI_USE_VERTEXAI: 'true' }),
    files: () => ({ '.gemini/settings.json': geminiSettings('vertex-ai') }),
  },
};

function geminiSettings(selectedType: string): string {
  return JSON.stringify({ security: { auth: { selectedType } }, general: { maxAttempts: 1 } });
}

const bwrap = await probeBubblewrap();
const missing = bwrap.works ? '' : ` (NOT RUN: ${bwrap.reason})`;

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

describe.skipIf(!bwrap.works).each(Object.entries(CASES))(
  `an injected %s${missing}`,
  (secret, { client, header, prefix, env, files }) => {
    it('is in the requests that the model gets, and nowhere in the session', async () => {
      const script = [client.shell('env'), client.shell(COMPLETE), says('Now.')];
      const setUp = (world: World): void => {
        for (const [path, text] of Object.entries(files(world))) {
          mkdirSync(join(world.home, path, '..'), { recursive: true });
          writeFileSync(join(world.home, path), text);
        }
      };
      await using user = await openUser({ startModel: client.startModel, setUp }, script);
      scene.write(`
        network = "model"
        [secrets]
        ${secret} = { env = "KEPT_KEY", inject = "header" }
        [agents.coder]
        sandbox = "bubblewrap"
        run = "${client.run}"
        model = "${client.model}"
        prompt = "Do the task."
        on_stop = "signal"
        on_dead = "fail"`);
      const key = `key-${randomUUID()}`;
      const shell = { HOME: user.home, PATH: `${CLIENTS}:/usr/bin:/bin`, TMPDIR: user.temporary, ...env(user) };
      await scene.start({ ...shell, KEPT_KEY: key });
      expect(await scene.agent(await scene.run('coder'), 35_000)).toMatchObject({ status: 'done' });
      for (const { headers } of user.model.asked) expect(headers[header]).toBe(`${prefix}${key}`);
      const seen = textIn(user.model.asked[1]);
      expect(seen).toContain('injected-by-baton');
      expect(seen).not.toContain(key);
      expect(seen).not.toContain('key-in-settings');
    });
  },
);
