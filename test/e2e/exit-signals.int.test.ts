import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../src/api/answer.ts';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { exitSignal, record } from '../processes/messages.ts';
import { refusalOf, resultOf, tokenOf } from '../processes/answers.ts';
import { findLedgerFault, readLedger, since, typesOf } from '../processes/ledger.ts';
import { World } from '../processes/world.ts';

/** Section 2 of the specification: each case as the daemon receives it, and as the ledger records it. */
let world: World;
let n = 0;
let task: string;
let token: string;
let before: readonly Entry[];

beforeAll(async () => {
  world = await World.open({ AGENT_EXIT_PROTOCOL_ENABLED: 'true' });
  mkdirSync(join(world.repository, 'evidence'));
  execFileSync('mkfifo', [join(world.repository, 'evidence/pipe.yaml')]);
});
afterAll(async () => world[Symbol.asyncDispose]());

beforeEach(async () => {
  n += 1;
  task = `T${n}`;
  ({ task, token } = await claimNew(task));
  before = await readLedger(world);
});

describe('a valid signal', () => {
  it.each([
    ['completed', 'CI_PENDING', 'ClaimCompleted', 'in_progress'],
    ['blocked', 'BLOCKED', 'ClaimBlocked', 'blocked'],
    ['error', 'BLOCKED', 'ClaimFailed', 'blocked'],
  ])('%s moves the task to %s, and ends the claim, in one commit', async (reason, next_phase, ended, status) => {
    const signal = exitSignal('IMPLEMENTATION', reason, { pr_url: 'https://example.org/1', notes: 'All of it\u0007.' });
    const answer = await send(signal);
    expect(resultOf(answer)).toEqual({ next_phase, exit_reason: reason });
    const [completed, claimEnd, moved, ...rest] = await since(world, before);
    expect(rest).toEqual([]);
    expect(typesOf([completed, claimEnd, moved].filter((each) => each !== undefined))).toEqual([
      'AgentSessionCompleted',
      ended,
      'PhaseMoved',
    ]);
    const session_id = JSON.stringify(before.at(-1)?.data['session_id']).slice(1, -1);
    expect(completed?.data).toMatchObject({
      event_type: 'AgentSessionCompleted',
      source: 'agent_exit_protocol',
      session_id,
      actor_id: `session:${session_id}`,
      task_id: task,
      epoch: 1,
      phase_completed: 'IMPLEMENTATION',
      exit_reason: reason,
      next_phase,
      pr_url: 'https://example.org/1',
      notes: 'All of it.',
    });
    expect(completed?.actor).toBe(`session:${session_id}`);
    expect(claimEnd?.data).toMatchObject({ task_id: task, epoch: 1 });
    expect(moved?.data).toMatchObject({ task_id: task, from: 'IMPLEMENTATION', to: next_phase });
    // All have the same time, because they were recorded together.
    expect(new Set([completed?.at, claimEnd?.at, moved?.at]).size).toBe(1);
    expect(await world.order('task_get', { task_id: task })).toMatchObject({ phase: next_phase, claim: null, status });
  });

  it('by the command line, with the token of its environment', () => {
    const ran = world.baton(['emit', 'exit', JSON.stringify(exitSignal('IMPLEMENTATION'))], {
      env: { BATON_TOKEN: token },
    });
    expect(ran).toEqual({ code: 0, out: 'Accepted (completed); the task is now CI_PENDING.\n', err: '' });
  });

  it('with an evidence bundle that exists', async () => {
    const sha = world.git(world.repository, 'rev-parse', 'HEAD');
    world.write(world.repository, {
      'evidence/good.yaml': [
        `task_id: ${task}`,
        'phase: IMPLEMENTATION',
        `head_sha: ${sha}`,
        'commands: [{ run: npm test, exit_code: 0, output_sha256: "' + 'a'.repeat(64) + '" }]',
        'files: [{ path: src/a.ts, action: created }]',
        'decisions: []',
        'failed_approaches: []',
        'next_step: review it',
        '',
      ].join('\n'),
    });
    const answer = await send(exitSignal('IMPLEMENTATION', 'completed', { evidence_bundle_ref: 'evidence/good.yaml' }));
    expect(resultOf(answer)).toMatchObject({ next_phase: 'CI_PENDING' });
  });
});

describe('evidence that is a pipe', () => {
  it('is refused at once, without waiting for a writer', async () => {
    execFileSync('mkfifo', [join(world.repository, 'pipe.yaml')]);
    const signal = exitSignal('IMPLEMENTATION', 'completed', { evidence_bundle_ref: 'pipe.yaml' });
    // More concurrent calls than Node has file threads: none of them waits forever.
    const answers = await Promise.all(Array.from({ length: 8 }, async () => send(signal)));
    expect(answers.map((answer) => answer.ok || answer.error.message)).toEqual(
      answers.map(() => "evidence_bundle_ref not found: 'pipe.yaml'"),
    );
  });
});

describe('a claim by hand with a worktree of its own', () => {
  it('finds its evidence there', async () => {
    const { path } = resultOf(await world.client(token).call('task_worktree', {}));
    const sha = world.git(world.repository, 'rev-parse', 'HEAD');
    const bundle = `task_id: ${task}\nphase: IMPLEMENTATION\nhead_sha: ${sha}\ncommands: []\nfiles: []\nnext_step: review it\n`;
    world.write(world.repository, { 'elsewhere.yaml': bundle });
    const signal = (ref: string) => exitSignal('IMPLEMENTATION', 'completed', { evidence_bundle_ref: ref });
    expect(refusalOf(await send(signal('elsewhere.yaml')))).toBe(
      "evidence-not-found: evidence_bundle_ref not found: 'elsewhere.yaml'",
    );
    world.write(String(path), { 'own.yaml': bundle });
    expect(resultOf(await send(signal('own.yaml')))).toMatchObject({ next_phase: 'CI_PENDING' });
  });
});

describe('an invalid signal is refused with its first fault, and changes nothing', () => {
  const valid = exitSignal('IMPLEMENTATION');
  it.each<[string, unknown, string | RegExp]>([
    ['too large', { ...valid, notes: 'x'.repeat(70_000) }, /^input too large: 70\d{3} bytes > 65536 bytes maximum$/],
    ['not JSON', '{"protocol": apm2}', /^invalid JSON: .* at line 1 column \d+$/],
    ['a field too many', { ...valid, extra: 1 }, /^invalid JSON: .*extra.* at line 1 column \d+$/],
    ['a field twice', JSON.stringify(valid).replace('{', '{"version":"1.0.0",'), /^invalid JSON: .*version.* at line/],
    ['a value in the wrong case', { ...valid, exit_reason: 'Completed' }, /^invalid JSON: .*Completed.* at line/],
    [
      'another protocol',
      { ...valid, protocol: 'wrong_protocol' },
      "unknown protocol: expected 'apm2_agent_exit', got 'wrong_protocol'",
    ],
    ['another version', { ...valid, version: '2.0.0' }, "unsupported version: expected '1.x', got '2.0.0'"],
    ['a long name', { ...valid, protocol: 'x'.repeat(65) }, 'protocol exceeds maximum length: 65 bytes > 64 bytes'],
    [
      'a plain URL',
      { ...valid, pr_url: 'http://example.org/1' },
      "pr_url must start with 'https://': got 'http://example.org/1'",
    ],
    [
      'a dangerous URL',
      { ...valid, pr_url: 'https://example.org/$(x)' },
      "pr_url contains potentially dangerous character: '$'",
    ],
    ['long notes', { ...valid, notes: 'x'.repeat(10_241) }, 'notes exceeds maximum length: 10241 bytes > 10240 bytes'],
    [
      'a way out',
      { ...valid, evidence_bundle_ref: '../x.yaml' },
      "path traversal detected in evidence_bundle_ref: paths cannot contain '..' or start with '/'",
    ],
    [
      'evidence that is not there',
      { ...valid, evidence_bundle_ref: 'evidence/none.yaml' },
      "evidence_bundle_ref not found: 'evidence/none.yaml'",
    ],
    [
      'evidence that is a pipe',
      { ...valid, evidence_bundle_ref: 'evidence/pipe.yaml' },
      "evidence_bundle_ref not found: 'evidence/pipe.yaml'",
    ],
    ['evidence that is none', { ...valid, evidence_bundle_ref: 'README.md' }, /^invalid evidence bundle: /],
  ])('%s', async (_, signal, text) => {
    const answer = await send(signal);
    if (answer.ok) throw new Error('it was accepted');
    const exact = typeof text === 'string' ? new RegExp(`^${RegExp.escape(text)}$`) : text;
    expect(answer.error.message).toMatch(exact);
    expect(await since(world, before)).toEqual([]);
    expect(await world.order('task_get', { task_id: task })).toMatchObject({
      phase: 'IMPLEMENTATION',
      claim: { epoch: 1 },
    });
  });

  it('in the format for people', () => {
    const ran = world.baton(['emit', 'exit', JSON.stringify({ ...valid, version: '2.0.0' })], {
      env: { BATON_TOKEN: token },
    });
    expect(ran.code).toBe(1);
    expect(ran.err.split('\n')[0]).toBe(
      "Error: unsupported version: expected '1.x', got '2.0.0' [unsupported-version]",
    );
  });
});

describe('a repeated signal', () => {
  it('gets the first answer again, in any spelling, and changes nothing', async () => {
    const first = await send(exitSignal('IMPLEMENTATION', 'completed', { notes: 'done' }));
    const after = await readLedger(world);
    expect(await send(exitSignal('IMPLEMENTATION', 'completed', { notes: 'done' }))).toEqual(first);
    const spaced = JSON.stringify({ notes: 'done', pr_url: null, ...exitSignal('IMPLEMENTATION') }, null, 2);
    expect(await send(spaced)).toEqual(first);
    expect(await since(world, after)).toEqual([]);
  });

  it('even if another session has the task since', async () => {
    const first = await send(exitSignal('IMPLEMENTATION'));
    resultOf(await world.client().call('task_claim', { task_id: task, as: 'next' }));
    const after = await readLedger(world);
    expect(await send(exitSignal('IMPLEMENTATION'))).toEqual(first);
    expect(await since(world, after)).toEqual([]);
    expect(await world.order('task_get', { task_id: task })).toMatchObject({ claim: { epoch: 2, holder: 'next' } });
  });

  it('with different content is too late', async () => {
    await send(exitSignal('IMPLEMENTATION'));
    const after = await readLedger(world);
    const other = await send(exitSignal('IMPLEMENTATION', 'blocked', { notes: 'not so fast' }));
    expect(refusalOf(other)).toBe('no-active-phase: session has no active work phase');
    expect(await since(world, after)).toEqual([]);
  });
});

describe('a late signal', () => {
  it.each([
    ['after the claim was given back', async () => world.client(token).call('task_release', { task_id: task })],
    ['after an operator took the claim away', async () => world.client().call('task_release', { task_id: task })],
    [
      'after the task was done',
      async () =>
        world.client(token).call('task_complete', record(task, world.git(world.repository, 'rev-parse', 'HEAD'))),
    ],
  ])('%s', async (_, end) => {
    resultOf(await end());
    const after = await readLedger(world);
    expect(refusalOf(await send(exitSignal('IMPLEMENTATION')))).toBe(
      'no-active-phase: session has no active work phase',
    );
    expect(await since(world, after)).toEqual([]);
  });

  it('after another session has claimed the task: that claim stays', async () => {
    await world.order('task_release', { task_id: task });
    await world.order('task_claim', { task_id: task, as: 'next' });
    const after = await readLedger(world);
    expect(refusalOf(await send(exitSignal('IMPLEMENTATION')))).toBe(
      'no-active-phase: session has no active work phase',
    );
    expect(await since(world, after)).toEqual([]);
    expect(await world.order('task_get', { task_id: task })).toMatchObject({ claim: { holder: 'next', epoch: 2 } });
  });
});

it('a signal for the wrong phase is refused, and the right one is still accepted', async () => {
  expect(refusalOf(await send(exitSignal('REVIEW')))).toBe(
    "phase-mismatch: phase mismatch: exit signal claims 'REVIEW' but session is in 'IMPLEMENTATION'",
  );
  expect(await since(world, before)).toEqual([]);
  expect(resultOf(await send(exitSignal('IMPLEMENTATION')))).toMatchObject({ next_phase: 'CI_PENDING' });
});

describe("another session's token", () => {
  it('works only for its own task', async () => {
    const other = await claimNew(`${task}-other`);
    const after = await readLedger(world);
    resultOf(await world.client(other.token).forward('exit_signal', exitSignal('IMPLEMENTATION')));
    const entries = await since(world, after);
    expect(new Set(entries.map(({ data }) => data['task_id']))).toEqual(new Set([other.task]));
    expect(await world.order('task_get', { task_id: task })).toMatchObject({
      phase: 'IMPLEMENTATION',
      claim: { epoch: 1 },
    });
  });

  it.each([
    ['forged', 'bad-token', () => forge(token, { t: `${task}-other` })],
    ['cut short', 'bad-token', () => token.slice(0, -2)],
    ["a worker's", 'forbidden', () => undefined],
  ])('%s is refused (%s)', async (_, code, make) => {
    const given = make();
    const client = given === undefined ? world.workerClient() : world.client(given);
    expect(await client.forward('exit_signal', exitSignal('IMPLEMENTATION'))).toMatchObject({
      ok: false,
      error: { code },
    });
    expect(await since(world, before)).toEqual([]);
  });

  it('even the operator cannot end a session in its name', async () => {
    const answer = await world.client().forward('exit_signal', exitSignal('IMPLEMENTATION'));
    expect(refusalOf(answer)).toBe('forbidden: an operator may not call exit_signal');
    expect(await since(world, before)).toEqual([]);
  });
});

it('and after all of this the ledger verifies', async () => {
  expect(await findLedgerFault(world)).toBeUndefined();
});

describe('with the flag off', () => {
  const disabled = 'exit signal validation is disabled (AGENT_EXIT_PROTOCOL_ENABLED=false)';

  it.each([[{}], [{ AGENT_EXIT_PROTOCOL_ENABLED: 'false' }], [{ AGENT_EXIT_PROTOCOL_ENABLED: 'on' }]])(
    'by %j, every signal is refused, valid or not, and changes nothing',
    async (settings) => {
      await using off = await World.open(settings);
      await off.order('task_create', { task_id: 'T1', title: 'x' });
      const client = off.client(tokenOf(await off.order('task_claim', { task_id: 'T1', as: 'a' })));
      const start = await readLedger(off);
      for (const signal of [exitSignal('IMPLEMENTATION'), 'rubbish', exitSignal('REVIEW')]) {
        expect(await client.forward('exit_signal', signal)).toMatchObject({ ok: false, error: { message: disabled } });
      }
      // The caller's environment does not count.
      const typed = off.baton(['emit', 'exit', JSON.stringify(exitSignal('IMPLEMENTATION'))], {
        env: { BATON_TOKEN: tokenOf(await claimOf(off)), AGENT_EXIT_PROTOCOL_ENABLED: 'true' },
      });
      expect(typed.err.split('\n')[0]).toBe(`Error: ${disabled} [exit-protocol-disabled]`);
      expect((await since(off, start)).filter(({ data }) => data['task_id'] === 'T1')).toEqual([]);
    },
  );

  it("the project's own setting turns it on if the environment does not set it", async () => {
    await using on = await World.open();
    on.write(on.repository, { 'baton.toml': 'exit_protocol = true\n' });
    await on.order('task_create', { task_id: 'T1', title: 'x' });
    const client = on.client(tokenOf(await on.order('task_claim', { task_id: 'T1', as: 'a' })));
    expect(resultOf(await client.forward('exit_signal', exitSignal('IMPLEMENTATION')))).toMatchObject({
      next_phase: 'CI_PENDING',
    });
  });
});

async function send(signal: unknown): Promise<Answer> {
  return world.client(token).forward('exit_signal', signal);
}

async function claimNew(id: string): Promise<{ task: string; token: string }> {
  await world.order('task_create', { task_id: id, title: 'Something' });
  return { task: id, token: tokenOf(await world.order('task_claim', { task_id: id, as: 'ada' })) };
}

async function claimOf(other: World): Promise<Record<string, unknown>> {
  await other.order('task_create', { task_id: 'T2', title: 'y' });
  return other.order('task_claim', { task_id: 'T2', as: 'b' });
}

/** The same token with other content and the old signature. */
function forge(from: string, change: Readonly<Record<string, unknown>>): string {
  const [kind, claim = '', signature] = from.split('.');
  const said: unknown = JSON.parse(Buffer.from(claim, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify(Object.assign({}, said, change))).toString('base64url');
  return [kind, forged, signature].join('.');
}
