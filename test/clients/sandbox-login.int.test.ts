import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { says } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import { textIn, type ClientCase } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';
import { geminiCase } from './gemini-under-test.ts';
import { COMPLETE, openUser, shellOf } from './with-daemon.ts';

interface LoginCase {
  readonly client: ClientCase;
  /** The path of the login below HOME. */
  readonly login: string;
  /** The path at which the client writes a renewed login. */
  readonly renewed: string;
  readonly settings: string;
}

const CASES: readonly LoginCase[] = [
  {
    client: claudeCase,
    login: '.claude/.credentials.json',
    renewed: '~/.claude/.credentials.json',
    settings: '.claude/settings.json',
  },
  { client: codexCase, login: '.codex/auth.json', renewed: '~/.codex/auth.json', settings: '.codex/config.toml' },
  {
    client: geminiCase,
    login: '.gemini/oauth_creds.json',
    renewed: '"$GEMINI_CLI_HOME/.gemini/oauth_creds.json"',
    settings: '.gemini/settings.json',
  },
];

const bwrap = await probeBubblewrap();
const missing = bwrap.works ? '' : ` (NOT RUN: ${bwrap.reason})`;

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

describe.skipIf(!bwrap.works).each(CASES)(
  `the configuration of $client.run in bubblewrap${missing}`,
  ({ client, login, renewed, settings }) => {
    it('is a copy, of which only a renewed login is copied back; even if HOME is a link', async () => {
      const look = client.shell(`cat ~/${login}; ls -a ~ ~/${dirname(login)}`);
      const change = `printf '{"token":"renewed"}' > ${renewed}; echo planted > ~/${settings}; touch ~/planted`;
      // The command is in a file, because Claude Code asks before a command that names its settings.
      writeFileSync(join(scene.repository, 'change.sh'), change);
      const script = [look, client.shell('sh change.sh'), client.shell(COMPLETE), says('Now.')];
      await using user = await openUser(client, script);
      const home = join(dirname(user.home), 'linked-home');
      symlinkSync(user.home, home);
      writeFileSync(join(user.home, login), '{"token":"of the user"}', { mode: 0o600 });
      mkdirSync(join(user.home, '.ssh'));
      writeFileSync(join(user.home, '.ssh/id_ed25519'), 'key of the user');
      const before = client.settings(user);
      scene.write(`
        [agents.coder]
        sandbox = "bubblewrap"
        run = "${client.run}"
        model = "${client.model}"
        prompt = "Do the task."
        on_stop = "signal"
        on_dead = "fail"`);
      await scene.start({ ...shellOf(client, user), HOME: home });
      expect(await scene.agent(await scene.run('coder'), 35_000)).toMatchObject({ status: 'done' });
      const seen = textIn(user.model.asked[1]);
      expect(seen).toContain('{"token":"of the user"}');
      expect(seen).not.toMatch(/^\.ssh$/m);
      expect(readFileSync(join(user.home, login), 'utf8')).toBe('{"token":"renewed"}');
      expect(client.settings(user)).toBe(before);
      expect(existsSync(join(user.home, 'planted'))).toBe(false);
    });
  },
);
