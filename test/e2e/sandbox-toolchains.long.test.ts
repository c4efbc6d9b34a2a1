import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { about, readLedger, textOf } from '../processes/ledger.ts';
import { record } from '../processes/messages.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { type NpmRegistry, startRegistry, TARBALL } from './npm-registry.ts';

/**
 * A project with one package manager: a command that installs its dependencies with a network, an agent's command, and
 * a check without a network.
 */
interface Toolchain {
  readonly name: string;
  /** A command that succeeds if the toolchain is installed. */
  readonly probe: string;
  readonly files: Readonly<Record<string, string>>;
  readonly ignored: string;
  readonly install: string;
  readonly work: string;
  readonly check: string;
  /** What the agent's output must contain. */
  readonly said: readonly string[];
}

const WHEEL = `
import zipfile
with zipfile.ZipFile('wheels/answer-1.0.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('answer.py', 'ANSWER = 42')
    wheel.writestr('answer-1.0.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: answer\\nVersion: 1.0.0\\n')
    wheel.writestr('answer-1.0.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('answer-1.0.0.dist-info/RECORD', '')
`;

const TOOLCHAINS: readonly Toolchain[] = [
  {
    name: 'npm',
    probe: 'npm --version',
    files: {
      'package.json': JSON.stringify({ name: 'app', version: '1.0.0', scripts: { test: 'node test.js' } }),
      'test.js': 'if (require("shout")("loud") !== "LOUD") throw new Error("it is quiet");\n',
    },
    ignored: 'node_modules\n',
    install: 'npm install --no-audit --no-fund --save shout',
    // The worktree has the installed dependencies; the sessions' cache is separate, and the registry can fill it.
    work: 'node_modules/.bin/shout heard; cat ~/.npmrc; rm -rf node_modules; npm ci --no-audit --no-fund; rm -rf node_modules; npm ci --offline --no-audit --no-fund; npm test; git add package.json package-lock.json',
    check: 'npm ci --offline --no-audit --no-fund && npm test',
    said: ['HEARD', 'registry=http://127.0.0.1:'],
  },
  {
    name: 'pip',
    probe: 'python3 -m pip --version',
    files: {
      'requirements.txt': 'answer==1.0.0\n',
      'make_wheel.py': WHEEL,
      'wheels/README': 'Made by make_wheel.py.\n',
      'test_answer.py':
        'import unittest, answer\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(answer.ANSWER, 42)\n',
    },
    ignored: 'deps\n*.whl\n__pycache__\n',
    install:
      'python3 make_wheel.py && python3 -m pip install --no-index --find-links wheels --target deps -r requirements.txt',
    work: 'python3 -m pip cache dir; PYTHONPATH=deps python3 -m unittest -v test_answer; python3 -c "import sys; print(sys.prefix)"',
    check:
      'python3 make_wheel.py && python3 -m pip install --no-index --find-links wheels --target deps -r requirements.txt && PYTHONPATH=deps python3 -m unittest test_answer',
    said: ['/caches/', 'OK'],
  },
  {
    name: 'cargo',
    probe: 'cargo --version',
    files: {
      'Cargo.toml':
        '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ndep = { path = "dep" }\n',
      'dep/Cargo.toml': '[package]\nname = "dep"\nversion = "0.1.0"\nedition = "2021"\n',
      'dep/src/lib.rs': 'pub fn two() -> u32 { 2 }\n',
      'src/lib.rs': '#[test]\nfn adds() { assert_eq!(dep::two(), 2); }\n',
    },
    ignored: 'target\n',
    install: 'cargo fetch --offline && cargo build --offline',
    work: 'cargo test --offline; echo "CARGO_HOME=$CARGO_HOME"; git add Cargo.lock',
    check: 'cargo test --offline',
    said: ['test adds ... ok', '/caches/'],
  },
];

const bwrap = await probeBubblewrap();
const CASES = TOOLCHAINS.map((toolchain) => {
  const missing = bwrap.works ? whyNot(toolchain) : bwrap.reason;
  return { ...toolchain, missing, title: missing === '' ? toolchain.name : `${toolchain.name} (NOT RUN: ${missing})` };
});

function whyNot({ probe }: Toolchain): string {
  return spawnSync('/bin/sh', ['-c', probe]).status === 0 ? '' : `\`${probe}\` does not work here`;
}

describe.each(CASES)('a project of $title', (toolchain) => {
  it.skipIf(toolchain.missing !== '')(
    'is installed, worked on and checked in the sandbox',
    { timeout: 180_000 },
    async () => {
      await using registry = await startRegistry();
      await using world = new World();
      prepareHome(world, registry);
      world.commit(world.repository, { ...toolchain.files, ...projectOf(toolchain, registry) }, 'the project');
      // Users have their name in git's configuration, not in their environment.
      await world.startDaemon({ shell: 'unset $(env | grep -o ^GIT_[A-Z_]*)' });
      await world.order('task_create', { task_id: 'T1', title: 'Work' });
      const exited = await ended(world);
      const said = readFileSync(join(world.stateDir, 'agents', textOf(exited, 'agent_id'), 'output.log'), 'utf8');
      expect({ code: exited['code'], said }).toEqual({ code: 0, said: expect.any(String) });
      for (const words of toolchain.said) expect(said).toContain(words);
      for (const words of ['token-of-registry', 'key of the user']) expect(said).not.toContain(words);
      const branch = world.git(world.repository, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/feature');
      expect(world.git(world.repository, 'log', '-1', '--format=%an <%ae> %s', branch)).toBe(
        'Grace <grace@example.org> work',
      );

      const head = world.git(world.repository, 'rev-parse', branch);
      expect(await merged(world, branch, head)).toMatchObject({ outcome: 'merged', sandbox: 'bubblewrap' });
      const told = await readLedger(world);
      expect(told.find(({ type }) => type === 'AgentStarted')?.data).toMatchObject({ sandbox: 'bubblewrap' });
      // Each cache was filled once, without the token.
      const tarballs = registry.asked.filter(({ request }) => request === `GET ${TARBALL}`);
      expect(tarballs).toHaveLength(toolchain.name === 'npm' ? 2 : 0);
      expect(registry.asked.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
    },
  );
});

/** A home with the toolchains of this machine's user, settings, and files that no session may see. */
function prepareHome({ folder }: World, { port, url }: NpmRegistry): void {
  for (const name of ['.pyenv', '.rustup', '.cargo/bin']) {
    const own = join(homedir(), name);
    if (!existsSync(own)) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    symlinkSync(own, join(folder, name));
  }
  const files = {
    '.npmrc': `registry=${url}/\n//127.0.0.1:${port}/:_authToken=token-of-registry\n`,
    '.gitconfig': '[user]\nname = Grace\nemail = grace@example.org\n',
    '.ssh/id_ed25519': 'key of the user',
  };
  mkdirSync(join(folder, '.ssh'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

function projectOf({ ignored, install, work, check }: Toolchain, { port }: NpmRegistry): Record<string, string> {
  return {
    '.gitignore': ignored,
    'work.sh': `set -e\n${work.split('; ').join('\n')}\ncat ~/.ssh/id_ed25519 || true\necho done > done.txt\ngit add done.txt\ngit commit --quiet -m work\n`,
    'baton.toml': `sandbox = "bubblewrap"

[network]
policy = "none"
local = [${port}]

[workspace]
setup = '''${install}'''

[agents.worker]
run = "sh work.sh"
on_dead = "fail"

[workers.w]
phases = ["IMPLEMENTATION"]
run = { agent = "worker" }

[[ci.required]]
name = "test"
run = '''${check}'''

[notify]
desktop = false
terminal = false
`,
  };
}

async function merged(world: World, branch: string, head: string): Promise<unknown> {
  await world.order('task_create', { task_id: 'M1', title: 'Merge', phase: 'READY_FOR_MERGE' });
  await world.order('thought_record', record('M1', head, { branch }));
  await world.order('task_self_approve', { task_id: 'M1', reason: 'nobody else is here' });
  await world.order('merge_request', { task_id: 'M1' });
  const find = async (): Promise<unknown> => about(await readLedger(world), 'M1', 'MergeFinished').at(-1)?.data;
  return until('the merge has ended', find, 120_000);
}

/** Waits for the agent's exit. Throws if a command before it failed. */
async function ended(world: World): Promise<Entry['data']> {
  const find = async (): Promise<Entry['data'] | undefined> => {
    const told = await readLedger(world);
    const failed = told.find(({ type, data }) => type === 'CommandFinished' && data['exit_code'] !== 0);
    if (failed !== undefined) throw new Error(textOf(failed.data, 'output'));
    return told.find(({ type }) => type === 'AgentExited')?.data;
  };
  return until('the agent has ended', find, 120_000);
}
