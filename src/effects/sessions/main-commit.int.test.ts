import { afterEach, beforeEach, expect, it } from 'vitest';
import { Scratch } from '../../git/scratch.cases.ts';
import type { MainBranchState } from '../../state/main/main-branch.ts';
import { NO_FLOW } from '../../state/workflow/flow.ts';
import type { EffectContext } from '../context.ts';
import { findBaseOf, findMainOf } from './workplace.ts';

let scratch: Scratch;
let repo: string;
let accepted: string;
let evil: string;
beforeEach(() => {
  scratch = new Scratch();
  repo = scratch.repository();
  accepted = scratch.git(repo, 'rev-parse', 'main');
  // What a session can write: its own branch, set as the remote's main branch.
  scratch.git(repo, 'switch', '--quiet', '--create', 'evil');
  scratch.commit(repo, { 'evil.txt': 'x' });
  evil = scratch.git(repo, 'rev-parse', 'HEAD');
  scratch.git(repo, 'update-ref', 'refs/remotes/origin/evil', evil);
  scratch.git(repo, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/evil');
});
afterEach(() => scratch.remove());

function world(main: Partial<MainBranchState> | undefined, into?: string, remote?: string): EffectContext {
  const fleet = new Map(remote === undefined ? [] : [['fleet', { remote }]]);
  const hosts = new Map(['alpha', 'beta'].map((name) => [name, {}]));
  const state = { main: new Map(main === undefined ? [] : [['main', { trusted: null, ...main }]]), fleet, hosts };
  const read = async (look: (state: unknown) => unknown) => Promise.resolve(look(state));
  const parts = { path: repo, settingsFor: () => ({ into }), readState: read, recordMainMoves: async () => undefined };
  return parts as unknown as EffectContext; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

const find = async (where: EffectContext) => findMainOf({ flow: NO_FLOW }, where);

it("is the branch that the runbook names, whatever the remote's HEAD is", async () => {
  expect(await find(world({ branch: 'evil' }, 'main'))).toMatchObject({
    ok: true,
    value: { name: 'main', sha: accepted },
  });
  expect(await findBaseOf('main', world({ branch: 'evil' }))).toMatchObject({ value: { name: 'main' } });
});

it('is the recorded branch if the runbook names none', async () => {
  expect(await find(world({ branch: 'main' }))).toMatchObject({ ok: true, value: { name: 'main', sha: accepted } });
  expect(await findBaseOf('', world({ branch: 'main' }))).toMatchObject({ value: { name: 'main' } });
});

it('is the last accepted commit while later ones wait for a person, even if another branch took its place', async () => {
  scratch.git(repo, 'branch', '--force', 'main', evil);
  const trusted = { branch: 'main', sha: accepted };
  for (const branch of ['main', 'evil']) {
    const found = await find(world({ branch, sha: evil, trusted }));
    expect(found).toMatchObject({ ok: true, value: { name: 'main', sha: accepted } });
    expect(await findBaseOf('', world({ branch, sha: evil, trusted }))).toMatchObject({ value: { name: 'main' } });
  }
});

it("is the repository's before the first observation", async () => {
  expect(await find(world(undefined))).toMatchObject({ ok: true, value: { name: 'evil', sha: evil } });
});

it("is the recorded commit in a fleet, wherever this host's branch is", async () => {
  const main = { branch: 'main', sha: evil };
  expect(await find(world(main, undefined, '/remote'))).toMatchObject({ ok: true, value: { name: 'main', sha: evil } });
  expect(await findBaseOf('', world(main, undefined, '/remote'))).toMatchObject({ value: { name: 'main', sha: evil } });
  const trusted = { branch: 'main', sha: accepted };
  expect(await find(world({ ...main, trusted }, undefined, '/remote'))).toMatchObject({ value: { sha: accepted } });
});
