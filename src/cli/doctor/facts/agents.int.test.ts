import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Environment } from '../../../protocol/environment.ts';
import { checkRunbook } from '../../../runbook/check/check-runbook.ts';
import type { SandboxSurvey } from '../../../sandbox/survey.ts';
import { diagnoseAgents } from '../checks/agents.ts';
import type { Place } from '../place.ts';
import { readAgentFacts } from './agents.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'baton-doctor-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const NOT = { works: false, reason: '', fix: '' } as const;
const SURVEY: SandboxSurvey = { bubblewrap: NOT, container: NOT, user: NOT, 'sandbox-exec': NOT };

function put(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text, { mode: 0o755 });
}

async function found(runbook: string | undefined, env: Environment = {}): Promise<readonly string[]> {
  const checked = runbook === undefined ? undefined : checkRunbook([{ path: 'baton.toml', text: runbook }]);
  const place: Place = {
    env: { HOME: home, PATH: join(home, 'bin'), ...env },
    folder: home,
    isNamed: false,
    stateDir: join(home, 'state'),
    repository: { ok: false, problem: { code: '', message: '', path: '', line: null, column: null, hint: '' } },
    read: undefined,
    runbook: checked?.ok === true ? checked.value : undefined,
    runbookProblems: [],
  };
  const facts = await readAgentFacts(place, SURVEY);
  return diagnoseAgents(facts).map(({ code, name, detail }) => `${code} ${name}: ${detail}`);
}

it('finds a client that an agent names but that is not installed', async () => {
  const agents =
    '[agents.a]\nrun = "codex"\nprompt = "x"\n[agents.b]\nrun = "./tool"\n[agents.c]\nrun = "builtin:prep"';
  expect(await found(agents)).toEqual(['agents.missing codex: codex is not on the PATH: a cannot start']);
});

it.each([
  ['runs in an image', 'sandbox = "container"'],
  ['has a PATH of its own', 'env = { PATH = "/opt/bin" }'],
])('looks for no program of an agent that %s', async (_, line) => {
  expect(await found(`[agents.a]\nrun = "codex"\nprompt = "x"\n${line}`)).toEqual([]);
});

it('reports version and login, and an untested version is not a problem', async () => {
  put('bin/codex', "#!/bin/sh\necho 'codex 99.0.0'\n");
  const runbook = '[agents.a]\nrun = "codex"\nprompt = "x"';
  const [without] = await found(runbook);
  expect(without).toMatch(/^agents\.no-login codex: Codex: 99\.0\.0, not tested: newer than .*; no login was found$/);
  put('.codex/auth.json', '{}');
  expect((await found(runbook))[0]).toMatch(/^agents\.installed codex: .*; login: ~\/\.codex\/auth\.json$/);
});

it('finds the login in the variables of the agent itself', async () => {
  put('bin/codex', "#!/bin/sh\necho 'codex 99.0.0'\n");
  const [only] = await found('[agents.a]\nrun = "codex"\nprompt = "x"\nenv = { OPENAI_API_KEY = "x" }');
  expect(only).toMatch(/login: OPENAI_API_KEY$/);
});

it('lists what agents do not get, by name only', async () => {
  const env = { SECRET_THING: 'hidden', OTHER: 'hidden', OPENAI_API_KEY: 'hidden', BATON_TICK_MS: '1' };
  const listed = await found('env_pass = ["OTHER"]\n[agents.a]\nrun = "./tool"', env);
  expect(listed).toEqual([
    'agents.variables variables: agents and checks do not get OPENAI_API_KEY, SECRET_THING; env_pass in the runbook adds a variable',
  ]);
});

it('lists the installed clients without a runbook, each program once', async () => {
  expect(await found(undefined)).toEqual(['agents.none agents: no client of an agent is on the PATH']);
  put('bin/gemini', '#!/bin/sh\necho 0.61.0\n');
  const listed = await found(undefined, { GEMINI_API_KEY: 'x' });
  expect(listed).toHaveLength(1);
  expect(listed[0]).toMatch(/^agents\.installed gemini\S*: .*0\.61\.0.*login: GEMINI_API_KEY$/);
});
