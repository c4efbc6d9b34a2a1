import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../processes/agent.ts';
import {
  documentProject,
  EXTRACTION,
  nextActions,
  PROMPTS,
  runTests,
  work,
  WRITEBACK_REQUIRED,
  type Worked,
} from '../processes/document-project.ts';
import { findLedgerFault, readLedger, since, typesOf } from '../processes/ledger.ts';
import { exitSignal, record } from '../processes/messages.ts';
import type { World } from '../processes/world.ts';

/**
 * The handoff protocol (source document 004) and the steps after an exit (000). Each agent is the MCP client of the SDK
 * with Baton's MCP server as a process; daemon, repository and remote are real.
 */
describe('the typical handoff sequence', () => {
  it('works for two agents, with the premature update refused', async () => {
    await using world = await documentProject();
    const [a, b] = await Promise.all([world.agent('agent-a'), world.agent('agent-b')]);

    // A: code, test, commit, push.
    await a.do('task_claim', { task_id: 'P0.1.1', as: 'agent-a' });
    const mine = await work(world, a, 'P0.1.1');
    // Meanwhile B waits for the next task, without polling.
    await b.do('task_claim', { task_id: 'P0.2.2', as: 'agent-b' });
    const waiting = b.do('task_next_actions', { wait_ms: 30_000 });

    // A: task_update before thought_record is refused and changes nothing; in the other order it succeeds.
    const before = await readLedger(world);
    expect(await a.refused('task_update', { task_id: 'P0.1.1', status: 'done', progress: 100 })).toBe(
      WRITEBACK_REQUIRED,
    );
    expect(await since(world, before)).toEqual([]);
    expect(await a.do('task_get', { task_id: 'P0.1.1' })).toMatchObject({ status: 'in_progress', progress: null });
    await a.do('thought_record', record('P0.1.1', mine.commit, { branch: mine.branch }));
    const done = { task_id: 'P0.1.1', status: 'done', progress: 100, notes: 'It is set up.' };
    expect(await a.do('task_update', done)).toMatchObject({ status: 'done' });
    expect(typesOf(await since(world, before))).toEqual([
      'ThoughtRecorded',
      'TaskProgressed',
      'ClaimCompleted',
      'PhaseMoved',
    ]);
    world.git(world.repository, 'merge', '--quiet', '--no-ff', '--no-edit', mine.branch);

    // That woke B; the critical path comes first.
    expect((await waiting)['tasks']).toMatchObject([{ id: 'P0.1.2' }, { id: 'P0.1.4' }]);
    await b.do('task_claim', { task_id: 'P0.1.2', as: 'agent-b' });
    expect(await b.do('task_brief', { task_id: 'P0.1.2' })).toMatchObject({ text: expect.stringContaining(PROMPTS) });
    const theirs = await work(world, b, 'P0.1.2');
    expect(theirs.tree).toBe(join(world.repository, '.worktrees/p0-1-2-linter'));
    expect(await b.refused('task_update', { task_id: 'P0.1.2', status: 'done' })).toBe(WRITEBACK_REQUIRED);
    await b.do('thought_record', record('P0.1.2', theirs.commit, { branch: theirs.branch }));
    expect(await b.do('task_update', { task_id: 'P0.1.2', status: 'done' })).toMatchObject({ status: 'done' });
    expect(await findLedgerFault(world)).toBeUndefined();
  }, 60_000);
});

describe('the four stages', () => {
  let world: World;
  let a: Agent;
  let done: Worked;
  let audit: unknown;

  beforeAll(async () => {
    world = await documentProject();
    a = await world.agent('agent-a');
  });
  afterAll(async () => world[Symbol.asyncDispose]());

  it('1: the completing agent finishes work', async () => {
    await a.do('task_claim', { task_id: 'P0.1.1', as: 'agent-a' });
    ({ audit_id: audit } = await a.do('audit_session_start', { task_id: 'P0.1.1' }));
    done = await work(world, a, 'P0.1.1');
    runTests(world, done.tree);
    expect(world.git(done.tree, 'log', '-1', '--format=%s')).toBe('task: P0.1.1 — Package setup');
    expect(world.git(world.repository, 'ls-remote', 'origin', done.branch)).toContain(done.commit);
  }, 30_000);

  it('2: the completing agent writes back, and seals', async () => {
    expect(await a.do('audit_verify_chain', { audit_id: audit })).toMatchObject({ size: expect.any(Number) });
    // It is refused before the final record.
    expect(await a.refused('merkle_finalize')).toContain('has no thought record yet');
    const written = record('P0.1.1', done.commit, {
      branch: done.branch,
      tests_run: ['smoke.test.mjs', 'lint'],
      files_changed: [done.file],
      blockers: [{ type: 'peer-dep', package: 'zod', issue: 'an old one', resolution: 'pinned' }],
    });
    // A commit that does not exist is refused as evidence.
    expect(await a.refused('thought_record', { ...written, commit_sha: '1'.repeat(40) })).toBe(
      `commit ${'1'.repeat(40)} is not in the repository`,
    );
    await a.do('thought_record', written);
    const seal = await a.do('merkle_finalize');
    expect(await a.do('merkle_root')).toMatchObject({ root: seal['root'], size: seal['size'] });
    await a.do('task_update', { task_id: 'P0.1.1', status: 'done', progress: 100, notes: 'Package set up.' });
    expect(await a.do('task_get', { task_id: 'P0.1.1' })).toMatchObject({
      status: 'done',
      phase: 'COMPLETED',
      progress: 100,
      notes: 'Package set up.',
      latest_record: written,
    });
  }, 30_000);

  it('3: a reviewer sees whether there is writeback, runs the tests, and merges', async () => {
    const clone = join(world.folder, 'review');
    world.git(world.folder, 'clone', '--quiet', '--branch', done.branch, join(world.folder, 'origin.git'), clone);
    runTests(world, clone);
    const records = world.baton(['thought', 'list', 'P0.1.1', '--json']);
    expect(JSON.parse(records.out)).toMatchObject({ latest: { commit_sha: done.commit } });
    world.git(world.repository, 'merge', '--quiet', '--no-ff', '--no-edit', done.branch);
    expect(world.baton(['reconcile']).out).toBe('No differences.\n');

    // Without writeback the task stays in progress, however good the work, and no agent can complete it.
    const c = await world.agent('agent-c');
    await c.do('task_claim', { task_id: 'P0.2.2', as: 'agent-c' });
    const perfect = await work(world, c, 'P0.2.2');
    expect(await c.refused('task_update', { task_id: 'P0.2.2', status: 'done' })).toBe(WRITEBACK_REQUIRED);
    expect(world.baton(['task', 'update', 'P0.2.2', '--status', 'done']).err).toContain(WRITEBACK_REQUIRED);
    expect(await c.do('task_get', { task_id: 'P0.2.2' })).toMatchObject({ status: 'in_progress', latest_record: null });
    await c.do('task_complete', record('P0.2.2', perfect.commit, { branch: perfect.branch }));
  }, 30_000);

  it('4: the next agent starts with everything it needs', async () => {
    const b = await world.agent('agent-b');
    expect(await nextActions(b)).toEqual(['P0.1.2', 'P0.1.4']);
    const { token: _, ...claim } = await b.do('task_claim', { as: 'agent-b' });
    expect(claim).toMatchObject({ task_id: 'P0.1.2', epoch: 1 });
    const { text, tokens, references } = await b.do('task_brief', { task_id: 'P0.1.2' });
    // In the document's order: the latest record with its blockers, the next tasks, then the files.
    const headings = [...String(text).matchAll(/^## (.*)$/gm)].map((match) => match[1]);
    expect(headings).toEqual([
      'Goal',
      'Records of the tasks before',
      'Newest record of the project',
      'Next actions',
      'Read first',
      `Prompt file ${PROMPTS}`,
    ]);
    const files = [PROMPTS, EXTRACTION, 'CLAUDE.md', 'AGENTS.md', 'docs/guides/agent-bootstrap.md'];
    expect(references).toEqual(files);
    expect(text).toContain(`## Read first\n\n${files.map((path) => `- ${path}\n`).join('')}`);
    expect(text).toContain('Set the package up.');
    expect(tokens).toBeLessThanOrEqual(2500);
    // Agent C recorded last, and the record stays with its task.
    expect(text).toMatch(/entry \d+, agent-c: Record at commit [0-9a-f]{12} of task P0\.2\.2/);
    const { text: earlier } = await b.do('task_brief', { task_id: 'P0.1.1' });
    for (const words of ['"resolution":"pinned"', 'tests_run: smoke.test.mjs, lint', done.commit, 'agent-a: Record'])
      expect(earlier).toContain(words);
    const { path, branch } = await b.do('task_worktree');
    expect({ path, branch }).toEqual({
      path: join(world.repository, '.worktrees/p0-1-2-linter'),
      branch: 'feature/p0-1-2-linter',
    });
    // A's work is in the worktree.
    expect(existsSync(join(String(path), done.file))).toBe(true);
    expect(await findLedgerFault(world)).toBeUndefined();
  }, 30_000);
});

describe('what happens after exit (source document 000)', () => {
  it('validation, entry, phase, release, and a fresh agent that is woken, from phase to phase', async () => {
    await using world = await documentProject({ AGENT_EXIT_PROTOCOL_ENABLED: 'true' });
    const commit = world.git(world.repository, 'rev-parse', 'HEAD');
    const [a, b, c] = await Promise.all([world.agent('agent-a'), world.agent('agent-b'), world.agent('agent-c')]);
    await a.do('task_claim', { task_id: 'P0.1.1', as: 'agent-a' });
    // The author must not review, so the third agent does.
    const others = [b, c, b];
    let leaving = a;
    for (const [i, [phase, next]] of ARROWS.entries()) {
      const fresh = others[i] ?? b;
      const waiting = fresh.do('task_claim', { task_id: 'P0.1.1', as: fresh.name, wait_ms: 30_000 });
      await exits(world, leaving, phase, next);
      // Steps 5 and 6: without CI the next phase can be claimed, and a waiting agent is woken by it.
      expect(await waiting).toMatchObject({ task_id: 'P0.1.1', epoch: i + 2 });
      leaving = fresh;
    }
    // Every path to done needs writeback, including this one.
    expect(await leaving.refused('exit_signal', exitSignal('READY_FOR_MERGE'))).toBe(WRITEBACK_REQUIRED);
    await leaving.do('thought_record', record('P0.1.1', commit));
    await exits(world, leaving, 'READY_FOR_MERGE', 'COMPLETED');
    expect(await a.do('task_get', { task_id: 'P0.1.1' })).toMatchObject({
      status: 'done',
      phase: 'COMPLETED',
      claim: null,
    });
    expect(await nextActions(a)).toEqual(['P0.1.2', 'P0.1.4', 'P0.2.2']);
    expect(await findLedgerFault(world)).toBeUndefined();
  }, 60_000);
});

/**
 * The transitions that an agent completes. A claim on READY_FOR_REVIEW begins the review, so no session exits from that
 * phase.
 */
const ARROWS = [
  ['IMPLEMENTATION', 'CI_PENDING'],
  ['CI_PENDING', 'READY_FOR_REVIEW'],
  ['REVIEW', 'READY_FOR_MERGE'],
] as const;

async function exits(world: World, agent: Agent, phase: string, next: string): Promise<void> {
  // Step 1: the signal is validated; an invalid one changes nothing.
  const before = await readLedger(world);
  expect(await agent.refused('exit_signal', exitSignal('DRAFT'))).toBe(
    `phase mismatch: exit signal claims 'DRAFT' but session is in '${phase}'`,
  );
  expect(await since(world, before)).toEqual([]);
  // Steps 2 to 4: the entry, the phase and the end of the claim are recorded together.
  expect(await agent.do('exit_signal', exitSignal(phase, 'completed', { notes: `${phase} is done` }))).toEqual({
    next_phase: next,
    exit_reason: 'completed',
  });
  const [completed, ended, moved] = await since(world, before);
  expect(completed).toMatchObject({
    type: 'AgentSessionCompleted',
    data: { phase_completed: phase, next_phase: next },
  });
  expect(ended).toMatchObject({ type: 'ClaimCompleted', at: completed?.at });
  expect(moved).toMatchObject({ type: 'PhaseMoved', data: { from: phase, to: next }, at: completed?.at });
}
