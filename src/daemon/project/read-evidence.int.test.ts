import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { Scratch } from '../../git/scratch.cases.ts';
import { type EvidenceSubject, readEvidence } from './read-evidence.ts';

let scratch: Scratch;
let repository: string;
let [before, base, head]: [string, string, string] = ['', '', ''];
let elsewhere: string;
let own: OwnRepositoryImporter;

beforeAll(() => {
  scratch = new Scratch();
  repository = scratch.repository();
  own = new OwnRepositoryImporter({ stateDir: join(scratch.folder, 'state'), projectId: 'p', path: repository });
  before = scratch.git(repository, 'rev-parse', 'HEAD');
  base = scratch.commit(repository, { 'a.txt': 'a' });
  head = scratch.commit(repository, { 'b.txt': 'b' });
  scratch.git(repository, 'branch', 'other', before);
  scratch.git(repository, 'worktree', 'add', '--quiet', join(scratch.folder, 'other'), 'other');
  elsewhere = scratch.commit(join(scratch.folder, 'other'), { 'c.txt': 'c' });
});
afterAll(() => scratch.remove());

const bundle = (more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    task_id: 'W-1',
    phase: 'IMPLEMENTATION',
    head_sha: head,
    commands: [],
    files: [],
    next_step: 'review it',
    ...more,
  });

const byHand = (): EvidenceSubject => ({ taskId: 'W-1', missionId: 'T007', base: null, recorded: [] });
const started = (): EvidenceSubject => ({ ...byHand(), base });

async function judge(text: string, subject: EvidenceSubject, ref = 'e.json'): Promise<string | undefined> {
  scratch.write(repository, { 'e.json': text });
  const read = await readEvidence(ref, { workspace: repository, own, phase: 'IMPLEMENTATION', subject });
  return read.ok ? undefined : read.error.message;
}

describe.each([
  ['a claim taken by hand', byHand],
  ['a session that Baton started', started],
])('the evidence of %s', (_, subject) => {
  it.each(['W-1', 'T007'])('may name its task as %s', async (task_id) => {
    expect(await judge(bundle({ task_id }), subject())).toBeUndefined();
  });

  it.each(['W-2', 'T008', 'w-1', 'W-10'])('may not be about %s', async (task_id) => {
    expect(await judge(bundle({ task_id }), subject())).toBe(
      `invalid evidence bundle: it is about ${task_id}, not W-1`,
    );
  });

  it('may not be about another phase', async () => {
    expect(await judge(bundle({ phase: 'REVIEW' }), subject())).toBe(
      'invalid evidence bundle: it is about REVIEW, not IMPLEMENTATION',
    );
  });

  it.each([
    ['of another branch', () => elsewhere],
    ['from before this claim', () => before],
    ['that does not exist', () => '0123456789'.repeat(4)],
  ])('may not name a commit %s', async (_name, sha) => {
    expect(await judge(bundle({ head_sha: sha() }), subject())).toMatch(
      new RegExp(`^invalid evidence bundle: head_sha ${sha()} is n`),
    );
  });

  it('may not be a link to the bundle of another worktree', async () => {
    scratch.write(join(scratch.folder, 'other'), { 'e.json': bundle() });
    symlinkSync(join(scratch.folder, 'other'), join(repository, 'link'));
    expect(await judge(bundle(), subject(), 'link/e.json')).toBe("evidence_bundle_ref not found: 'link/e.json'");
  });

  beforeEach(() => scratch.git(repository, 'clean', '--quiet', '-fd'));
});

describe('a commit before the newest one', () => {
  it('counts for a session if the session added it', async () => {
    expect(await judge(bundle({ head_sha: base }), { ...started(), base: before })).toBeUndefined();
  });

  it('does not count for a session that began there: an earlier one made it', async () => {
    expect(await judge(bundle({ head_sha: base }), started())).toBe(
      `invalid evidence bundle: head_sha ${base} is not on the branch since this session began`,
    );
  });

  it('counts under a claim taken by hand if the newest record of that claim names it', async () => {
    expect(await judge(bundle({ head_sha: base }), byHand())).toBe(
      `invalid evidence bundle: head_sha ${base} is not HEAD`,
    );
    expect(await judge(bundle({ head_sha: base }), { ...byHand(), recorded: [base] })).toBeUndefined();
  });
});

describe('under a claim taken by hand with a record', () => {
  const refused = (named: string, newest: string): string =>
    `invalid evidence bundle: head_sha ${named} is not ${newest}, the commit of the newest record of this claim`;

  it('HEAD does not count if the record names another commit', async () => {
    expect(await judge(bundle(), { ...byHand(), recorded: [base] })).toBe(refused(head, base));
  });

  it('the commit of an earlier record does not count', async () => {
    expect(await judge(bundle({ head_sha: base }), { ...byHand(), recorded: [base, head] })).toBe(refused(base, head));
    expect(await judge(bundle(), { ...byHand(), recorded: [base, head] })).toBeUndefined();
  });
});

it('the newest commit counts also after the session has moved its branch onto another base', async () => {
  const rebased = join(scratch.folder, 'other');
  scratch.write(rebased, { 'e.json': bundle({ head_sha: elsewhere }) });
  const of = { workspace: rebased, own, phase: 'IMPLEMENTATION', subject: started() };
  expect(await readEvidence('e.json', of)).toMatchObject({ ok: true, bundle: { head_sha: elsewhere } });
});
