import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import type { Asked } from '../models/script.ts';
import { BATON } from '../package/where.ts';
import { findProcesses } from '../processes/find-processes.ts';
import { acceptUnproven } from '../processes/personal.ts';
import { claudeCase } from './claude-under-test.ts';
import type { ClientCase } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';
import { geminiCase } from './gemini-under-test.ts';
import { claudeHands, codexHands, geminiHands, type Hands } from './played-hands.ts';
import { KEY_PREFIX, playModel, roleIn } from './played-model.ts';
import { openUser, shellOf } from './with-daemon.ts';
import {
  adoptRunbook,
  ALL_HANDOFFS,
  describeTurns,
  entriesIn,
  giveTo,
  handoffsIn,
  makeRepository,
  runBaton,
} from './workflow-run.ts';
import type { World } from './world.ts';

/** A client whose key only Baton has. */
interface KeylessCase {
  readonly client: ClientCase;
  readonly hands: Hands;
  readonly secret: string;
  /** The key's variable without injection, if it is a different one. */
  readonly plainKey?: string;
  readonly header: string;
  readonly prefix: string;
  readonly network: 'model' | 'full';
  /** The variables of the user's shell besides the key. */
  readonly env: (world: World) => Readonly<Record<string, string>>;
  readonly setUp: (world: World) => void;
}

const CASES: readonly KeylessCase[] = [
  {
    client: claudeCase,
    hands: claudeHands,
    secret: 'ANTHROPIC_API_KEY',
    header: 'x-api-key',
    prefix: '',
    network: 'model',
    env: ({ model }) => ({ ANTHROPIC_BASE_URL: model.url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
    // The user has a login too, but uses a key here.
    setUp: ({ home }) => {
      mkdirSync(join(home, '.claude'));
      const login = { claudeAiOauth: { accessToken: `${KEY_PREFIX}login`, refreshToken: 'r', expiresAt: 0 } };
      writeFileSync(join(home, '.claude/.credentials.json'), JSON.stringify(login));
      writeFileSync(join(home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true }));
    },
  },
  {
    client: codexCase,
    hands: codexHands,
    secret: 'OPENAI_API_KEY',
    plainKey: 'SCRIPTED_KEY',
    header: 'authorization',
    prefix: 'Bearer ',
    network: 'model',
    env: ({ model }) => ({ OPENAI_BASE_URL: `${model.url}/v1` }),
    setUp: ({ home }) => {
      mkdirSync(join(home, '.codex/skills'), { recursive: true });
      writeFileSync(join(home, '.codex/config.toml'), '[features]\nplugins = false\n');
      writeFileSync(join(home, '.codex/auth.json'), JSON.stringify({ OPENAI_API_KEY: `${KEY_PREFIX}login` }));
    },
  },
  {
    client: geminiCase,
    hands: geminiHands,
    secret: 'GEMINI_API_KEY',
    header: 'x-goog-api-key',
    prefix: '',
    // With a proxy in its environment, version 0.61.0 reads no headers under Node 26, and reaches no MCP server.
    network: 'full',
    env: ({ model }) => ({ GOOGLE_GEMINI_BASE_URL: model.url }),
    setUp: (world) => {
      geminiCase.setUp(world);
      writeFileSync(join(world.home, '.gemini/.env'), `GOOGLE_API_KEY=${KEY_PREFIX}login\n`);
      writeFileSync(join(world.home, '.gemini/GEMINI.md'), 'Use plain words.\n');
    },
  },
];

const ROLES = ['issue-manager', 'implementer', 'reviewer', 'fixer'];

function runbookOf({ client, secret, network }: KeylessCase, isSandboxed: boolean): string {
  const agents = ROLES.map((role) => `[agents.${role}]\nrun = "${client.run}"\nmodel = "${client.model}"\n`);
  const access = `sandbox = "bubblewrap"\nnetwork = "${network}"\n\n[secrets]\n${secret} = { env = "KEPT_KEY", inject = "header" }\n`;
  return `exit_protocol = true
${isSandboxed ? access : 'sandbox = "none"\n'}
${agents.join('\n')}
[[ci.required]]
name = "test"
run = "node --test"

[workflow]
smoke = "node --test"

[notify]
desktop = false
terminal = false
`;
}

/** A user without root, which only root can become; and the reason if this process cannot. */
const isRoot = process.getuid?.() === 0;
const other = isRoot ? findUser() : undefined;
const bwrap = await probeBubblewrap();

const WHO = [
  { who: isRoot ? 'root' : 'this user', uid: undefined, missing: bwrap.works ? '' : bwrap.reason },
  { who: 'a user without root', uid: other, missing: whyNotAs(other) },
].map((each) => ({ ...each, title: `${each.who}${each.missing === '' ? '' : ` (NOT RUN: ${each.missing})`}` }));

function findUser(): number | undefined {
  const ids = readFileSync('/etc/passwd', 'utf8').matchAll(/^[^:]+:[^:]*:(\d+):/gm);
  return [...ids].map(([, id]) => Number(id)).find((id) => id >= 1000 && id < 60_000);
}

function whyNotAs(uid: number | undefined): string {
  if (!bwrap.works) return bwrap.reason;
  if (uid === undefined) return isRoot ? 'no other user in /etc/passwd' : 'only root can become another user';
  const { status } = spawnSync('/bin/sh', ['-c', 'test -r "$0"', import.meta.filename], { uid, gid: uid });
  if (status !== 0) return `user ${uid} cannot read this folder`;
  const args = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', 'true'];
  const tried = spawnSync('bwrap', args, { uid, gid: uid, encoding: 'utf8' });
  return tried.status === 0 ? '' : `user namespaces: ${tried.stderr.trim()}`;
}

/** Other users need access to the package and the worlds of this run, whose folder may be closed. */
beforeAll(() => {
  for (const folder of new Set([tmpdir(), dirname(dirname(dirname(BATON)))]))
    if (basename(folder).startsWith('baton-')) chmodSync(folder, 0o711);
});

describe.each(CASES)('the built-in workflow with $client.run', (each) => {
  const { client, hands, header, prefix, secret } = each;
  let without: Outcome;

  beforeAll(async () => {
    const key = `${KEY_PREFIX}${randomUUID()}`;
    await using world = await open(each, false);
    acceptUnproven(world.home);
    without = await runWorkflow(world, { ...shellOf(client, world), [each.plainKey ?? secret]: key });
    const heard = JSON.stringify(world.model.asked.map(({ body }) => body));
    if (!heard.includes(key)) throw new Error('the search for keys does not find one that is there');
  }, 240_000);

  for (const { title, uid, missing } of WHO)
    it.skipIf(missing !== '')(
      `in bubblewrap comes to the same, with a key that only Baton has: as ${title}`,
      { timeout: 240_000 },
      async () => {
        const key = `${KEY_PREFIX}${randomUUID()}`;
        await using world = await open(each, true, uid);
        const outcome = await runWorkflow(world, { ...shellOf(each, world), KEPT_KEY: key }, uid);
        expect(outcome.compared).toEqual(without.compared);
        for (const { headers } of world.model.asked) expect(headers[header]).toBe(`${prefix}${key}`);
        // The agents could read neither this key nor a login of the user.
        const heard = JSON.stringify(world.model.asked.map(({ body }) => body));
        expect(heard).not.toContain(key);
        expect(heard).not.toContain(`${KEY_PREFIX}login`);
        const found = spawnSync('grep', ['-rslF', key, world.stateDir, world.home, world.project], {
          encoding: 'utf8',
        });
        expect(found.stdout).toBe('');
        // The refusal and the approval were tool calls of the client, whose shell is separate: nobody was asked.
        expect(outcome.entries('VerdictUnproven')).toEqual([]);
        expect(without.entries('VerdictUnproven')).toMatchObject([{ because: 'shell', held: null }]);
        expect(outcome.entries('DecisionOpened')).toEqual([]);
        const judges = outcome.entries('AgentStarted').flatMap(({ judge }) => judge ?? []);
        expect(judges).toEqual([1, 2].map(() => ({ stream: true, shell: true, unseparated: 'ask' })));
        const starts = outcome.entries('AgentStarted').filter(({ limits }) => limits !== 'none');
        expect(starts.map(({ sandbox }) => sandbox)).toEqual(Array.from({ length: 5 }, () => 'bubblewrap'));
      },
    );

  async function open(given: KeylessCase, isSandboxed: boolean, uid?: number): Promise<World> {
    const { setUp } = isSandboxed ? given : client;
    const world = await openUser({ startModel: client.startModel, setUp }, playModel(hands));
    makeRepository(world, runbookOf(given, isSandboxed));
    if (uid !== undefined) giveTo(uid, dirname(world.home));
    return world;
  }
});

interface Outcome {
  /** The part of the outcome that must be the same with and without a sandbox. */
  readonly compared: object;
  readonly entries: (type: string) => readonly Readonly<Record<string, unknown>>[];
}

/** Runs a workflow from the request to the merge, and checks that nothing is left. */
async function runWorkflow(user: World, shell: Record<string, string>, uid?: number): Promise<Outcome> {
  const baton = async (...args: string[]) => runBaton(user, shell, args, uid);
  try {
    await adoptRunbook(baton);
    const ran = await baton('run', 'issue', 'Read durations back');
    expect(ran.code, `${ran.out}\n${describeTurns(user.model.asked)}`).toBe(0);
    expect(handoffsIn(ran.out)).toEqual(ALL_HANDOFFS);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'safe.directory=*', '-C', user.project, ...args], { encoding: 'utf8' }).trim();
    expect(git('status', '--porcelain')).toBe('');
    expect(git('branch', '--list', 'feature/*')).toBe('');
    const file = join(user.temporary, 'ledger.ndjson');
    expect(await baton('ledger', 'export', '-o', file)).toMatchObject({ code: 0 });
    const told = entriesIn(file);
    return {
      compared: {
        main: git('ls-tree', '-r', 'main').replace(/^.*\tbaton\.toml$/m, ''),
        commits: git('log', '--format=%an <%ae> %s', 'main'),
        conversations: startsOf(user.model.asked).map(roleIn),
        turns: user.model.asked.length,
        blocked: told.filter(({ type }) => type === 'AgentBlocked').length,
        checks: told.filter(({ type }) => type === 'CheckFinished').map(({ data }) => data['outcome']),
        exits: told.filter(({ type }) => type === 'AgentExited').map(({ data }) => data['code']),
      },
      entries: (wanted) => told.filter(({ type }) => type === wanted).map(({ data }) => data),
    };
  } finally {
    await baton('down');
    await until(() => findProcesses(user.stateDir).length === 0, 'nobody is left', 30_000);
  }
}

function startsOf(asked: readonly Asked[]): readonly Asked[] {
  return asked.filter(({ messages }) => messages.every(({ role }) => role !== 'model'));
}
