import { describe, expect, it } from 'vitest';
import { findClient } from '../../../agents/capabilities/clients.ts';
import { problem } from '../../../protocol/shape/problem.ts';
import { checkRunbook } from '../../../runbook/check/check-runbook.ts';
import type { SandboxKind } from '../../../protocol/sandbox.ts';
import { NO_PERSONAL } from '../../../runbook/personal/personal.ts';
import type { Diagnosis } from '../finding.ts';
import { CHECKS, guard } from '../look.ts';
import { type AgentFacts, diagnoseAgents } from './agents.ts';
import { diagnoseChain } from './chain.ts';
import { type ClockFacts, diagnoseClock } from './clock.ts';
import { diagnoseCodeFiles } from './code-files.ts';
import { type DaemonFacts, diagnoseDaemon } from './daemon.ts';
import { diagnoseDisk, type Disk } from './disk.ts';
import { diagnoseGit, type GitFacts } from './git.ts';
import { diagnoseHooks, type HookFacts, type HookFileFacts } from './hooks.ts';
import type { ChainFacts, LedgerFacts, SnapshotFacts } from './ledger-facts.ts';
import { diagnoseNode } from './node.ts';
import { diagnosePersonal } from './personal.ts';
import { diagnoseProof, type ProofFacts } from './proof.ts';
import { diagnoseRunbook, type RunbookFacts } from './runbook.ts';
import { diagnoseSandbox, type SandboxFacts } from './sandbox.ts';
import { diagnoseService, type ServiceFacts } from './service.ts';
import { diagnoseSnapshot } from './snapshot.ts';
import { diagnoseStateFolder, type StateFolderFacts } from './state-folder.ts';
import { type DatabaseFacts, diagnoseStore } from './store.ts';
import { diagnoseTelemetry, type TelemetryFacts } from './telemetry.ts';
import { diagnoseVersions, type VersionFacts } from './versions.ts';
import { diagnoseWorktrees, type WorktreeFact, type WorktreeFacts } from './worktrees.ts';

/** Every finding: the facts that cause it, its text and its fix. Each `expected` is `detail | fix`. */
type Case = readonly [code: string, found: readonly Diagnosis[], expected: string];

const TROUBLE = { code: 'x', message: 'it does not work', hint: 'Make it work.' } as const;

const NOT_HERE = { works: false, reason: 'no bwrap', fix: 'Install it.' } as const;
const NO_SANDBOX = { bubblewrap: NOT_HERE, container: NOT_HERE, user: NOT_HERE, 'sandbox-exec': NOT_HERE };
const HAS_BWRAP = { works: true, path: '/usr/bin/bwrap', version: '0.8.0' } as const;
const demands = (sandbox: SandboxKind) => ({
  ...PERSONAL,
  value: { ...NO_PERSONAL, floor: { ...NO_PERSONAL.floor, sandbox } },
});
const PERSONAL = { path: '/c/config.toml', exists: true, value: NO_PERSONAL, problems: [] } as const;

const git = (more: Partial<GitFacts>, inside: Partial<NonNullable<GitFacts['repository']>> = {}) =>
  diagnoseGit({
    version: '2.47.1',
    trouble: null,
    folder: '/work',
    isNamed: false,
    repository: {
      top: '/work',
      isBare: false,
      identity: 'Ada <ada@x>',
      main: { name: 'main', sha: '1234567890' },
      mainTrouble: null,
      ...inside,
    },
    ...more,
  });

const runbook = (text: string, more: Partial<RunbookFacts> = {}) => {
  const checked = checkRunbook([{ path: 'baton.toml', text }]);
  return diagnoseRunbook({
    isInRepository: true,
    files: ['baton.toml'],
    runbook: checked.ok ? checked.value : undefined,
    problems: checked.ok ? [] : checked.problems,
    identityProblem: null,
    failingSandboxes: ['container'],
    ...more,
  });
};

const CLAUDE = findClient('claude');
const client = (more: Partial<AgentFacts['clients'][number]>): AgentFacts => {
  if (CLAUDE === undefined) throw new Error('there is no claude');
  const version = { kind: 'found', version: '2.1.300', is: 'known' } as const;
  return {
    clients: [{ ...CLAUDE, version, agents: ['a', 'b'], login: 'KEY', ...more }],
    hasRunbook: true,
    dropped: [],
  };
};

const FILE: HookFileFacts = {
  client: 'claude',
  scope: { kind: 'user' },
  path: '/h/settings.json',
  parts: ['Stop', 'MCP server'],
  problems: [],
  others: [],
  missing: [],
  isOnRecord: true,
};
const hooks = (file: Partial<HookFileFacts> | null, more: Partial<HookFacts> = {}) =>
  diagnoseHooks({
    baton: '/b/baton.cjs',
    files: file === null ? [] : [{ ...FILE, ...file }],
    deleted: [],
    isUnfinished: false,
    ...more,
  });

const NOT = { works: false, reason: 'it is not installed', fix: 'Install it.' } as const;
const sandbox = (more: Partial<SandboxFacts['survey']>, uplink?: SandboxFacts['uplink']) => {
  const survey = { bubblewrap: NOT, container: NOT, user: NOT, 'sandbox-exec': NOT, ...more };
  return diagnoseSandbox({ survey, uplink, isRoot: false });
};
const BWRAP = { works: true, path: '/bin/bwrap', version: '0.8.0' } as const;

const state = (more: Partial<StateFolderFacts>, folder: Partial<NonNullable<StateFolderFacts['folder']>> = {}) =>
  diagnoseStateFolder({
    path: '/s',
    folder: { isFolder: true, isOwn: true, mode: 0o40700, isWritable: true, ...folder },
    open: [],
    badSetting: null,
    kept: 0,
    isInSession: false,
    ...more,
  });

const RECORD = { pid: 7, port: 1, socket: '/s/daemon.sock', version: '1.0.0', started: 'T' } as const;
const SOCKET = { path: '/s/daemon.sock', isSocket: true, isOwn: true, mode: 0o140600 } as const;
const daemon = (more: Partial<DaemonFacts>) =>
  diagnoseDaemon({
    version: '1.0.0',
    pid: 7,
    record: RECORD,
    socket: SOCKET,
    answer: { kind: 'none' },
    isAlive: false,
    isDown: false,
    crashes: undefined,
    log: '/s/daemon.log',
    ...more,
  });
const health = (version: string) =>
  ({ kind: 'health', health: { version, pid: 7, started: '2026-01-01T00:00:00Z' } }) as const;

const CHAIN: ChainFacts = { kind: 'whole', from: 1, findings: [], warnings: [], hasOutside: true };
const ledger = (more: Partial<LedgerFacts>, inside: Partial<NonNullable<LedgerFacts['inside']>> = {}): LedgerFacts => ({
  path: '/s/p.db',
  bytes: 1_500_000,
  isWritable: true,
  key: null,
  isNew: false,
  problem: null,
  inside: {
    entries: 12,
    isReplica: false,
    faults: [],
    chain: CHAIN,
    snapshot: { kind: 'none' },
    newestAt: null,
    level: null,
    unknown: [],
    ...inside,
  },
  ...more,
});
const store = (more: Partial<LedgerFacts>, inside: Parameters<typeof ledger>[1] = {}) =>
  diagnoseStore({ ledger: ledger(more, inside), database: null });
const database = (answer: DatabaseFacts['answer']) =>
  diagnoseStore({ ledger: null, database: { url: 'postgres://db/baton', answer } });
const chain = (more: Partial<ChainFacts>) => diagnoseChain(ledger({}, { chain: { ...CHAIN, ...more } }));
const FAULT = { code: 'x', seq: 3, message: 'the hash is wrong', hint: 'Compare it.' } as const;
const snapshot = (facts: SnapshotFacts) => diagnoseSnapshot(ledger({}, { snapshot: facts }));

const versions = (more: Partial<VersionFacts>) =>
  diagnoseVersions({ version: '1.0.0', level: 2, daemon: null, ledger: null, onPath: null, ...more });

const WORKTREE: WorktreeFact = {
  path: '/w/.worktrees/t1',
  isMissing: false,
  isLocked: false,
  taskId: 'T1',
  needed: 'T1 is DRAFT',
  hasTask: true,
};
const worktree = (one: Partial<WorktreeFact>, more: Partial<WorktreeFacts> = {}) =>
  diagnoseWorktrees({
    worktrees: [{ ...WORKTREE, ...one }],
    hasTasks: true,
    trouble: null,
    unknownFolders: [],
    ...more,
  });

const disk = (more: Partial<Disk>) =>
  diagnoseDisk({
    disks: [{ holds: ['the ledger', 'worktrees'], path: '/s', freeBytes: 79e9, freeFiles: null, ...more }],
  });

const NOW_MS = Date.parse('2026-01-01T12:00:00Z');
const clock = (more: Partial<ClockFacts>) => diagnoseClock({ nowMs: NOW_MS, newestAt: null, offsetMs: null, ...more });

const service = (more: Partial<NonNullable<ServiceFacts['file']>>) =>
  diagnoseService({
    file: {
      path: '/u/baton.service',
      content: 'ours',
      programs: ['/n/node', '/b/baton.cjs'],
      missing: [],
      isThisBaton: true,
      isEnabled: true,
      enable: 'systemctl --user enable --now baton.service',
      ...more,
    },
  });

const telemetry = (more: Partial<TelemetryFacts>) =>
  diagnoseTelemetry({ module: '/o/otel.mjs', isReadable: true, logged: null, ...more });

const proof = (more: Partial<Extract<ProofFacts, { kind: 'ran' }>>) =>
  diagnoseProof({
    kind: 'ran',
    outcome: 'merged',
    detail: 'it does not work',
    hint: null,
    lastLine: '',
    ms: 9400,
    sandboxes: ['bubblewrap, network full'],
    escapes: [],
    ...more,
  });

const CASES: readonly Case[] = [
  ['node.fits', diagnoseNode({ version: '24.11.0', needs: '>=24.11', program: '/n' }), 'Node 24.11.0, /n'],
  [
    'node.old',
    diagnoseNode({ version: '24.9.1', needs: '>=24.11', program: '/n' }),
    'Node 24.9.1 (/n); Baton needs >=24.11 | Install a newer one: https://nodejs.org/en/download',
  ],
  ['git.fits', git({}), 'git 2.47.1; /work, main branch main at 12345678'],
  [
    'git.missing',
    git({ version: null, trouble: TROUBLE, repository: null }),
    'it does not work; the project is not checked | Make it work.',
  ],
  [
    'git.old',
    git({ version: '2.9.5' }),
    'git 2.9.5; Baton needs 2.38 or newer | Install a newer one: https://git-scm.com/downloads',
  ],
  [
    'git.no-repository',
    git({ repository: null, trouble: { ...TROUBLE, code: 'git/no-repository' } }),
    'git 2.47.1; /work is in no repository, so no project is checked | Change to a repository, or name one: --project DIR',
  ],
  [
    'git.not-a-repository',
    git({ repository: null, trouble: { ...TROUBLE, code: 'git/no-repository' }, isNamed: true }),
    'git 2.47.1; /work is in no repository, so no project is checked | Change to a repository, or name one: --project DIR',
  ],
  ['git.refuses', git({ repository: null, trouble: TROUBLE }), 'git 2.47.1: it does not work | Make it work.'],
  ['git.bare', git({}, { isBare: true }), '/work is a bare repository | Clone it, and work in the clone.'],
  ['git.no-main-branch', git({}, { main: null, mainTrouble: TROUBLE }), 'it does not work | Make it work.'],
  [
    'git.no-identity',
    git({}, { identity: null }),
    'git has no user.name and user.email: commits of agents fail, and merge commits have Baton as their author | git config --global user.name "YOUR NAME" && git config --global user.email YOU@EXAMPLE.ORG',
  ],
  ['runbook.valid', runbook('network = "dev"\n[agents.a]\nrun = "./a"'), 'baton.toml: valid, 1 agent'],
  ['runbook.wide-network', runbook('network = "full"'), 'agents reach every host; recommended: network = "dev"'],
  [
    'runbook.missing',
    runbook('', { runbook: undefined, files: [] }),
    'no baton.toml, and no file in .baton/runbooks | Write one: baton init',
  ],
  [
    'runbook.invalid',
    runbook('[agents.a]\nrun = "builtin:x"'),
    'baton.toml: there is no built-in role x | See: baton runbook check',
  ],
  ['runbook.wrong-identity', runbook('', { identityProblem: TROUBLE }), 'it does not work | Make it work.'],
  [
    'runbook.sandbox-fails',
    runbook('[agents.a]\nrun = "./a"\nsandbox = "container"'),
    'the runbook asks for container, which does not work here, so these agents cannot start: a | See container below, or set sandbox = "auto".',
  ],
  [
    'runbook.budget-without-usage',
    runbook('[agents.a]\nrun = "./a"\nbudget = { tokens = 1 }'),
    'agents.a.budget does not count the tokens and cost of a: the client reports none | Set `timeout` or `budget.time` of the agent.',
  ],
  ['agents.installed', diagnoseAgents(client({})), 'Claude Code: 2.1.300, tested; login: KEY'],
  [
    'agents.missing',
    diagnoseAgents(client({ version: { kind: 'missing' } })),
    `claude is not on the PATH: a, b cannot start | Install it: npm install -g ${CLAUDE?.package}. A running daemon keeps its PATH until baton down && baton up.`,
  ],
  [
    'agents.no-login',
    diagnoseAgents(client({ login: null })),
    'Claude Code: 2.1.300, tested; no login was found | Start it once and log in: claude',
  ],
  [
    'agents.none',
    diagnoseAgents({ clients: [], hasRunbook: false, dropped: [] }),
    'no client of an agent is on the PATH | Install one, such as: npm install -g @anthropic-ai/claude-code. See all clients: baton agent clients',
  ],
  [
    'agents.variables',
    diagnoseAgents({ clients: [], hasRunbook: true, dropped: ['A', 'B'] }),
    'agents and checks do not get A, B; env_pass in the runbook adds a variable',
  ],
  ['hooks.none', hooks(null), 'not installed for any client'],
  ['hooks.installed', hooks({}), 'claude: /h/settings.json: Stop, MCP server'],
  [
    'hooks.missing-program',
    hooks({ missing: ['/gone/node'], scope: { kind: 'project', root: '/w' } }),
    'claude: /h/settings.json starts /gone/node, which does not exist | baton hooks install claude --repository',
  ],
  [
    'hooks.other-program',
    hooks({ others: ['/c/baton.cjs'] }),
    'claude: /h/settings.json starts another Baton, /c/baton.cjs; this one is /b/baton.cjs | To start this one: baton hooks install claude',
  ],
  [
    'hooks.off',
    hooks({ problems: ['disableAllHooks is true: no hook runs'] }),
    'claude: /h/settings.json: disableAllHooks is true: no hook runs | Correct /h/settings.json.',
  ],
  [
    'hooks.removed',
    hooks({ parts: [] }),
    'claude: /h/settings.json has no hooks any more | baton hooks install claude, or without them: baton hooks uninstall claude',
  ],
  [
    'hooks.deleted-repository',
    hooks(null, { deleted: [{ client: 'codex', root: '/gone' }] }),
    'hooks of codex are installed for /gone, which no longer exists | baton hooks uninstall codex',
  ],
  [
    'hooks.unfinished',
    hooks(null, { isUnfinished: true }),
    'an installation of hooks was interrupted | The next `baton hooks install` or `uninstall` restores the files.',
  ],
  ['sandbox.auto', sandbox({ bubblewrap: BWRAP }), 'sandbox = "auto" takes bubblewrap here'],
  ['sandbox.works', sandbox({ bubblewrap: BWRAP }), 'bubblewrap 0.8.0, /bin/bwrap'],
  [
    'sandbox.none',
    sandbox({}),
    'sandbox = "auto": no sandbox works here, and sessions run as your user | Set up one of the sandboxes below.',
  ],
  ['sandbox.fails', sandbox({}), 'it is not installed | Install it.'],
  [
    'sandbox.network',
    sandbox({}, { works: true }),
    'with network = "full", a session has a network namespace of its own',
  ],
  ['sandbox.no-network', sandbox({}, NOT), 'it is not installed | Install it.'],
  ['state.private', state({}), '/s'],
  ['state.none', state({ folder: null }), '/s does not exist yet'],
  [
    'state.in-session',
    state({ isInSession: true }),
    'baton doctor runs in a session of an agent: it may not see the state folder, and not reach every host | Run it in a terminal outside of the session.',
  ],
  [
    'state.not-a-folder',
    state({}, { isFolder: false }),
    '/s is a file | Move it away. Or set BATON_STATE_DIR to another folder.',
  ],
  [
    'state.foreign',
    state({}, { isOwn: false }),
    '/s belongs to another user | Or set BATON_STATE_DIR to another folder.',
  ],
  [
    'state.read-only',
    state({}, { isWritable: false }),
    '/s cannot be written | Check its permissions, and whether the disk is mounted read-only.',
  ],
  ['state.open-folder', state({}, { mode: 0o40755 }), '/s has the mode 755: other users can enter it | chmod 700 /s'],
  [
    'state.open-file',
    state({ open: [{ path: '/s/key.pem', mode: 0o100644 }] }),
    '/s/key.pem has the mode 644: other users can read it | chmod 600 /s/key.pem',
  ],
  ['state.bad-setting', state({ badSetting: TROUBLE }), 'it does not work | Make it work.'],
  ['state.waiting', state({ kept: 2 }), '2 calls wait for a daemon | Deliver: baton up'],
  ['daemon.answers', daemon({ answer: health('1.0.0') }), 'Baton 1.0.0, process 7, since 2026-01-01T00:00:00Z'],
  ['daemon.none', daemon({ record: undefined, socket: null }), 'no daemon runs; a command that needs one starts it'],
  [
    'daemon.stale',
    daemon({}),
    'a record and a socket of a daemon that no longer runs (process 7) | The next daemon replaces them: baton up, or remove them: baton doctor --fix',
  ],
  [
    'daemon.unreachable',
    daemon({ isAlive: true }),
    'the daemon runs (process 7), but its socket refuses connections | See /s/daemon.log. To replace it: kill 7, then: baton up',
  ],
  [
    'daemon.silent',
    daemon({ answer: { kind: 'error', ...TROUBLE }, isAlive: true }),
    'it does not work | Make it work.',
  ],
  [
    'daemon.foreign-socket',
    daemon({ socket: { ...SOCKET, isOwn: false } }),
    '/s/daemon.sock belongs to another user | Set BATON_STATE_DIR to a folder of your own.',
  ],
  [
    'daemon.not-a-socket',
    daemon({ socket: { ...SOCKET, isSocket: false } }),
    '/s/daemon.sock is not a socket | Move it away: mv /s/daemon.sock /s/daemon.sock.old',
  ],
  [
    'daemon.open-socket',
    daemon({ socket: { ...SOCKET, mode: 0o140666 } }),
    '/s/daemon.sock is open to other users | chmod 600 /s/daemon.sock',
  ],
  [
    'daemon.other-version',
    daemon({ answer: health('0.9.0') }),
    'the daemon is Baton 0.9.0 (process 7), and this command is 1.0.0 | baton down && baton up. Agents keep running.',
  ],
  [
    'daemon.crashed',
    daemon({ crashes: { in_row: 4, at: 'T', reason: 'exit code 1', gave_up: true } }),
    'the daemon crashed 4 times in a row, and is not started again; last at T: exit code 1 | Find the cause in /s/daemon.log, then: baton up',
  ],
  ['versions.fit', versions({ daemon: '1.0.0' }), 'command 1.0.0, daemon 1.0.0'],
  [
    'versions.ledger-newer',
    versions({ ledger: ledger({}, { level: 3 }) }),
    'the ledger has entries of level 3, and this version knows 2 | Update Baton on this machine: npm install -g batonctl, then: baton down && baton up',
  ],
  [
    'versions.other-on-path',
    versions({ onPath: { program: '/bin/baton', version: '0.9.0' } }),
    '/bin/baton is Baton 0.9.0, and this command is 1.0.0 | Use the same version for both: npm install -g batonctl',
  ],
  ['store.opens', store({}), 'ledger of 12 entries, 1.5 MB, /s/p.db'],
  ['store.new', store({ isNew: true, inside: null }), 'nothing was recorded yet'],
  ['store.unreadable', store({ problem: TROUBLE, inside: null }), 'it does not work | Make it work.'],
  [
    'store.read-only',
    store({ isWritable: false }),
    '/s/p.db cannot be written | Check the owner and the permissions of the file and its folder, and whether the disk is read-only.',
  ],
  [
    'store.damaged',
    store({}, { faults: ['page 3 is torn', 'page 4 is torn'] }),
    '/s/p.db: page 3 is torn (and 1 more) | Restore the ledger from a backup, and write nothing to it before that. See: baton ledger verify',
  ],
  ['store.bad-key', store({ key: TROUBLE }), 'it does not work | Make it work.'],
  [
    'store.database-answers',
    database({ ok: true, latencyMs: 3, entries: 12, offsetMs: 0, rights: 'own' }),
    'postgres://db/baton answers in 3 ms, 12 entries',
  ],
  [
    'store.database-own-login',
    database({ ok: true, latencyMs: 3, entries: 12, offsetMs: 0, rights: 'own' }),
    'this host has a login of its own',
  ],
  [
    'store.database-shared-role',
    database({ ok: true, latencyMs: 3, entries: 12, offsetMs: 0, rights: 'shared' }),
    'the hosts share one role: the database does not separate projects, and a removed host can log in until the password is changed | For each host: baton store login URL HOST',
  ],
  [
    'store.database-owner',
    database({ ok: true, latencyMs: 3, entries: 12, offsetMs: 0, rights: 'owner' }),
    'the daemon logs in as the owner of the tables: the database does not check what it appends | Give it a role of its own: baton store init URL',
  ],
  ['store.database-away', database({ ok: false, ...TROUBLE }), 'postgres://db/baton: it does not work | Make it work.'],
  ['chain.verified', chain({}), 'all 12 entries are verified'],
  [
    'chain.broken',
    chain({ findings: [FAULT, { ...FAULT, seq: null }] }),
    'entry 3: the hash is wrong (and 1 more) | Compare it. For all findings: baton ledger verify',
  ],
  [
    'chain.no-outside-checkpoint',
    chain({ warnings: ['there is no outside checkpoint'] }),
    'there is no outside checkpoint | Compare the ledger with a backup or an export. The next entry makes a new checkpoint.',
  ],
  ['snapshot.fits', snapshot({ kind: 'matches', size: 9 }), 'of 9 entries, equal to their fold'],
  [
    'snapshot.discarded',
    snapshot({ kind: 'fault', fault: 'damaged' }),
    'the snapshot cannot be read | Nothing to do: the next start makes a new snapshot. To make one now: baton down && baton up',
  ],
  ['snapshot.forged', snapshot({ kind: 'differs', ...TROUBLE }), 'it does not work | Make it work.'],
  ['worktrees.fit', worktree({}), '1, each of an open task'],
  [
    'worktrees.missing',
    worktree({ isMissing: true, taskId: null }),
    '/w/.worktrees/t1 does not exist, and git has it on record; its branch stays | git worktree remove /w/.worktrees/t1',
  ],
  [
    'worktrees.left-over',
    worktree({ needed: null }),
    '/w/.worktrees/t1 is no longer needed: task T1 is over | Remove those without unmerged work: baton worktree prune',
  ],
  [
    'worktrees.no-task',
    worktree({ needed: null, hasTask: false }),
    '/w/.worktrees/t1 belongs to task T1, which is not in the ledger | See what is in the worktree: git -C /w/.worktrees/t1 status',
  ],
  [
    'worktrees.not-in-git',
    worktree({}, { unknownFolders: ['/w/.worktrees/x'] }),
    '/w/.worktrees/x is not a worktree of this repository | See what is in the folder, and remove it if you do not need it.',
  ],
  ['worktrees.unlisted', worktree({}, { trouble: TROUBLE }), 'it does not work | Make it work.'],
  ['disk.free', disk({}), '79 GB free for the ledger and worktrees, at /s'],
  [
    'disk.low',
    disk({ freeFiles: 9999 }),
    '79 GB and 9999 files free for the ledger and worktrees, at /s | Free some space. Worktrees of tasks that are over: baton worktree prune',
  ],
  [
    'disk.full',
    disk({ freeBytes: 9.9e7 }),
    '99 MB free for the ledger and worktrees, at /s | Free some space. Worktrees of tasks that are over: baton worktree prune',
  ],
  [
    'clock.right',
    clock({ newestAt: '2026-01-01T11:59:00Z', offsetMs: 12 }),
    '2026-01-01T12:00:00.000Z, after the newest entry, 12 ms from the database',
  ],
  [
    'clock.behind',
    clock({ newestAt: '2026-01-01T15:00:00Z' }),
    'the newest entry is of 2026-01-01T15:00:00Z, 3 h in the future | Set the clock, or let the system keep it: timedatectl set-ntp true',
  ],
  [
    'clock.drift',
    clock({ newestAt: '2026-01-01T12:00:04Z', offsetMs: -5000 }),
    'the clock is 5 s behind that of the database | Set the clock, or let the system keep it: timedatectl set-ntp true',
  ],
  ['service.none', diagnoseService({ file: null }), 'not installed'],
  ['service.installed', service({}), '/u/baton.service'],
  [
    'service.missing-program',
    service({ missing: ['/n/node'] }),
    '/u/baton.service starts /n/node, which does not exist | baton up --install-service, then: systemctl --user enable --now baton.service',
  ],
  [
    'service.other-program',
    service({ isThisBaton: false }),
    '/u/baton.service starts another Baton: /n/node /b/baton.cjs | To start this one: baton up --install-service, then: systemctl --user enable --now baton.service',
  ],
  [
    'service.not-enabled',
    service({ isEnabled: false }),
    '/u/baton.service is not enabled | systemctl --user enable --now baton.service',
  ],
  [
    'service.foreign',
    service({ content: 'foreign' }),
    '/u/baton.service was not written by Baton | Make that service run: baton up --foreground',
  ],
  ['code-files.none', diagnoseCodeFiles({ paths: [], unprotected: [] }), 'none'],
  [
    'code-files.protected',
    diagnoseCodeFiles({ paths: ['.github/workflows/a.yml', '.envrc', 'a/.envrc'], unprotected: [] }),
    '3: shell 2, ci 1; all are protected',
  ],
  [
    'code-files.unprotected',
    diagnoseCodeFiles({
      paths: ['a/Makefile', 'b/Makefile', 'c/Makefile', 'd/Makefile', '.envrc'],
      unprotected: ['a/Makefile', 'b/Makefile', 'c/Makefile', 'd/Makefile'],
    }),
    '5: shell 1, build 4; not protected, by ci.protected: a/Makefile, b/Makefile, c/Makefile (and 1 more)',
  ],
  ['personal.absent', diagnosePersonal({ ...PERSONAL, exists: false }, NO_SANDBOX), 'none'],
  ['personal.valid', diagnosePersonal(PERSONAL, NO_SANDBOX), '/c/config.toml'],
  [
    'personal.invalid',
    diagnosePersonal(
      { ...PERSONAL, problems: [{ ...problem('x', 'no floor', 'Add it.'), line: 2, file: '/c/config.toml' }] },
      NO_SANDBOX,
    ),
    '/c/config.toml:2:1: no floor | Add it.',
  ],
  [
    'personal.floor',
    diagnosePersonal(demands('bubblewrap'), NO_SANDBOX),
    '/c/config.toml demands at least the sandbox bubblewrap, which does not work here: no bwrap | Install it.',
  ],
  ['personal.valid', diagnosePersonal(demands('user'), { ...NO_SANDBOX, bubblewrap: HAS_BWRAP }), '/c/config.toml'],
  ['telemetry.off', telemetry({ module: undefined }), 'not configured'],
  ['telemetry.configured', telemetry({}), '/o/otel.mjs'],
  [
    'telemetry.missing-module',
    telemetry({ isReadable: false }),
    '/o/otel.mjs cannot be read | Correct BATON_TELEMETRY, or unset it; then: baton down && baton up',
  ],
  [
    'telemetry.failed',
    telemetry({ logged: { isError: true, text: 'the telemetry module has registered no tracer' } }),
    '/o/otel.mjs: the telemetry module has registered no tracer | Correct the module (baton docs telemetry), then: baton down && baton up',
  ],
  [
    'proof.merged',
    proof({}),
    'a scripted change was checked and merged in a copy, in 9 s; sandbox of the sessions: bubblewrap, network full',
  ],
  [
    'proof.contained',
    proof({}),
    'a session could not write to the main checkout, and could read neither the signing key nor a token',
  ],
  [
    'proof.open',
    proof({ sandboxes: ['no sandbox'], escapes: ['could x', 'could y'] }),
    'a session could x, could y | Set up a sandbox: see the findings above, and: baton docs guides/sandbox',
  ],
  [
    'proof.escaped',
    proof({ escapes: ['could x'] }),
    'a session could x | Start no agents on this machine, and report the escape: SECURITY.md',
  ],
  [
    'proof.check-failed',
    proof({ outcome: 'check-failed', detail: 'check test failed', lastLine: '1 of 2 failed' }),
    'check test failed in a clean checkout: 1 of 2 failed | Run the check in a fresh clone, and correct it until it passes there. Until then Baton merges nothing.',
  ],
  ['proof.stopped', proof({ outcome: 'stopped' }), 'it does not work | Correct the cause, then: baton doctor --prove'],
  ['proof.late', proof({ outcome: 'timeout' }), 'it does not work | Correct the cause, then: baton doctor --prove'],
  ['proof.not-started', proof({ outcome: 'not-started', hint: 'Make it work.' }), 'it does not work | Make it work.'],
  ['proof.interrupted', proof({ outcome: 'interrupted' }), 'interrupted | Run it again: baton doctor --prove'],
  [
    'proof.skipped',
    diagnoseProof({ kind: 'skipped', reason: 'there is no valid runbook', hint: 'Write one: baton init' }),
    'there is no valid runbook | Write one: baton init',
  ],
];

describe('the findings of baton doctor', () => {
  it.each(CASES)('%s', (code, found, expected) => {
    const finding = found.find((each) => each.code === code);
    const { detail, fix } = finding ?? { detail: 'not found', fix: null };
    expect([detail, fix].filter((text) => text !== null).join(' | ')).toBe(expected);
  });

  it('are all in the table above', () => {
    const declared = CHECKS.flatMap(({ name, kinds }) => Object.keys(kinds).map((code) => `${name}.${code}`));
    const shown = new Set(CASES.map(([code]) => code));
    expect(declared.filter((code) => !shown.has(code))).toEqual(['doctor.failed', 'doctor.late']);
  });

  const kindOf = (code: string) => {
    const [name, kind = ''] = code.split('.');
    return CHECKS.find((check) => check.name === name)?.kinds[kind];
  };
  const all = CASES.flatMap(([, found]) => found);

  it('have the status that their check declares', () => {
    expect(all.filter(({ code, status }) => kindOf(code)?.status !== status)).toEqual([]);
  });

  it('have a fix unless they are ok', () => {
    expect(all.filter(({ status, fix }) => (fix === null) !== (status === 'ok'))).toEqual([]);
  });

  it('name a correction of --fix only if their check declares one', () => {
    expect(all.filter(({ code, repair }) => repair !== undefined && kindOf(code)?.repaired === undefined)).toEqual([]);
  });
});

describe('a check that cannot be made', () => {
  it('becomes a finding if it throws', async () => {
    const failing = async (): Promise<readonly Diagnosis[]> => {
      throw new Error('EIO: i/o error');
    };
    expect(await guard('disk', failing, 1000)).toMatchObject([
      { code: 'doctor.failed', name: 'disk', status: 'warning', detail: 'could not be checked: EIO: i/o error' },
    ]);
  });

  it('becomes a finding if it does not end', async () => {
    const [only] = await guard('disk', async () => new Promise(() => undefined), 10);
    expect([only?.code, only?.detail]).toEqual(['doctor.late', 'could not be checked: took more than 0.01 s']);
  });

  it('returns its own findings otherwise', async () => {
    expect(await guard('disk', async () => [], 1000)).toEqual([]);
  });
});
