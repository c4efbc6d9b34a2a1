import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findLogin } from '../agents/find-login.ts';
import { findInstalledAgents } from './agents.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'baton-logins-'));
});
afterEach(() => rmSync(home, { recursive: true }));

it.each<readonly [string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, string | null]>([
  ['claude', {}, {}, null],
  ['claude', { ANTHROPIC_API_KEY: 'x' }, {}, 'ANTHROPIC_API_KEY'],
  ['claude', { ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: 'https://x' }, {}, null],
  ['claude', { CLAUDE_CODE_USE_BEDROCK: '1' }, {}, 'CLAUDE_CODE_USE_BEDROCK'],
  ['claude', {}, { '.claude/.credentials.json': '' }, '~/.claude/.credentials.json'],
  ['claude', {}, { '.claude.json': '{"oauthAccount":{}}' }, '~/.claude.json'],
  ['claude', {}, { '.claude.json': '{}' }, null],
  ['claude', { OPENAI_API_KEY: 'x' }, {}, null],
  ['codex', { OPENAI_API_KEY: 'x' }, {}, 'OPENAI_API_KEY'],
  ['codex', {}, { '.codex/auth.json': '' }, '~/.codex/auth.json'],
  ['gemini', {}, { '.gemini/oauth_creds.json': '' }, '~/.gemini/oauth_creds.json'],
  ['opencode', {}, { '.local/share/opencode/auth.json': '' }, '~/.local/share/opencode/auth.json'],
])('the login of %s, with %j and %j, is %s', (run, env, files, login) => {
  for (const [path, text] of Object.entries(files)) put(path, text);
  expect(findLogin(run, { ...env, HOME: home }, home)).toBe(login);
});

it('finds the clients on the PATH once each, those with a login first', async () => {
  for (const [name, printed] of Object.entries({ claude: '2.1.300', gemini: '0.61.0', codex: 'no version' }))
    put(`bin/${name}`, `#!/bin/sh\necho '${printed}'\n`);
  put('.gemini/oauth_creds.json', '{}');
  const agents = await findInstalledAgents({ HOME: home, PATH: join(home, 'bin') }, home);
  expect(agents.map(({ run, version, budget }) => [run, version, budget])).toEqual([
    ['gemini', '0.61.0', 'tokens'],
    ['claude', '2.1.300', 'cost'],
    ['codex', null, 'tokens'],
  ]);
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text, { mode: 0o755 });
}
