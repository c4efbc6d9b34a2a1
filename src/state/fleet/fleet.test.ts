import { describe, expect, it } from 'vitest';
import { LEDGER_LEVEL } from '../../protocol/fleet.ts';
import { decide } from '../decide.ts';
import { event } from '../event.ts';
import { given, OPEN, type Step } from '../given.cases.ts';
import { create, claim, operator, system, worker } from '../say.cases.ts';
import * as flow from '../workflow/say.cases.ts';
import { mayCare } from './caretaker.ts';
import { findFleet, findHost } from './fleet.ts';
import * as fleet from './say.cases.ts';
import { findOutOfReach } from './task-work.ts';

const { ROOT, REMOTE } = fleet;
const alone: readonly Step[] = [[fleet.found('alpha'), system]];
const two: readonly Step[] = [...alone, [fleet.admit('beta'), operator]];

describe('the first daemon on PostgreSQL', () => {
  it('founds the fleet, once', () => {
    given([])
      .when(fleet.found('alpha'), system)
      .then([
        event('FleetFounded', { host: 'alpha', root_commit: ROOT, remote: REMOTE }),
        event('LevelRaised', { level: LEDGER_LEVEL }),
        fleet.hostJoined('alpha', 'host:alpha'),
      ]);
    given(alone).when(fleet.found('beta'), system).thenRefused('fleet-exists');
  });

  it.each(['Alpha', '-a', 'a b', '', 'a'.repeat(64)])('needs a name that a host can have: %j', (host) => {
    given([]).when(fleet.found(host), system).thenRefused('bad-host-name');
  });
});

describe('a host that asks to join', () => {
  it('is admitted with its key', () => {
    const { answer } = given(alone)
      .when(fleet.admit('beta'), operator)
      .then([event('KeyAdded', { key: fleet.keyOf('beta') }), fleet.hostJoined('beta')]);
    expect(answer).toEqual({ isNew: true });
  });

  it('changes only its labels and its number of agents if it was admitted before', () => {
    const again = given(two).when(fleet.admit('beta', { labels: ['gpu'], agents: 9 }), operator);
    again.thenTypes(['HostJoined']);
    const { state } = given([...two, [fleet.drain('beta'), operator], [fleet.admit('beta', { agents: 9 }), operator]]);
    expect(findHost(state, 'beta')).toMatchObject({ agents: 9, draining: true });
  });

  it.each([
    ['its name is taken', fleet.admit('alpha', { key: 'another' }), 'host-exists'],
    ['its repository is another', fleet.admit('beta', { rootCommit: '2'.repeat(40) }), 'other-repository'],
    ['its key is that of another host', fleet.admit('beta', { key: 'key of alpha' }), 'host-exists'],
    ['its labels are none', fleet.admit('beta', { labels: ['\u001b[2J'] }), 'bad-request'],
    ['it has too many labels', fleet.admit('beta', { labels: Array.from({ length: 65 }, () => 'a') }), 'bad-request'],
    ['its number of agents is none', fleet.admit('beta', { agents: 1.5 }), 'bad-request'],
  ])('is refused if %s', (_, command, code) => {
    given(alone).when(command, operator).thenRefused(code);
  });

  it('is refused if no remote is on record, until there is one', () => {
    const local: readonly Step[] = [[fleet.found('alpha', { remote: null }), system]];
    given(local).when(fleet.admit('beta'), operator).thenRefused('no-remote');
    const remote = { kind: 'change-remote', command: { remote: REMOTE, by: 'operator:ann' } } as const;
    given([...local, [remote, operator]])
      .when(fleet.admit('beta'), operator)
      .thenTypes(['KeyAdded', 'HostJoined']);
  });

  it('is refused on SQLite', () => {
    given([]).when(fleet.admit('beta'), operator).thenRefused('no-fleet');
  });
});

describe('a host that leaves', () => {
  it('is drained and taken back, each once', () => {
    const drained = event('HostDrained', { host: 'beta', draining: true, by: 'operator:ann' });
    given(two).when(fleet.drain('beta'), operator).then([drained]);
    given([...two, drained])
      .when(fleet.drain('beta'), operator)
      .then([]);
    given([...two, drained])
      .when(fleet.drain('beta', false), operator)
      .thenTypes(['HostDrained']);
  });

  it('is removed with its key, and stays on record', () => {
    given(two)
      .when(fleet.remove('beta'), operator)
      .then([
        event('HostRemoved', { host: 'beta', reason: 'burnt down', by: 'operator:ann' }),
        event('KeyRevoked', { key: fleet.keyOf('beta') }),
      ]);
    const after = given([...two, [fleet.remove('beta'), operator]]);
    expect(after.state.hosts.get('beta')?.removed).toMatchObject({ reason: 'burnt down' });
    after.when(fleet.drain('beta'), operator).thenRefused('no-such-host');
    after.when(fleet.admit('beta'), operator).thenTypes(['KeyAdded', 'HostJoined']);
  });

  it('is not removed if it is the last one, or unknown', () => {
    given(alone).when(fleet.remove('alpha'), operator).thenRefused('last-host');
    given(two).when(fleet.remove('gamma'), operator).thenRefused('no-such-host');
    given([...two, [fleet.remove('beta'), operator]])
      .when(fleet.remove('alpha'), operator)
      .thenRefused('last-host');
  });

  it('decides nothing any more after it was removed', () => {
    const { state } = given([...two, [fleet.remove('beta'), operator]]);
    const refused = { ok: false, refusal: { code: 'host-removed' } };
    expect(decide(state, create('A'), operator, OPEN, 'beta')).toMatchObject(refused);
    expect(decide(state, create('A'), operator, OPEN, 'gamma')).toMatchObject(refused);
    expect(decide(state, create('A'), operator, OPEN, 'alpha')).toMatchObject({ ok: true });
  });

  it('hands the role of caretaker over while it drains, unless all hosts drain', () => {
    const draining: readonly Step[] = [...two, [fleet.drain('beta'), operator]];
    expect(mayCare(given(two).state, 'beta')).toBe(true);
    expect(mayCare(given(draining).state, 'beta')).toBe(false);
    expect(mayCare(given([...draining, [fleet.drain('alpha'), operator]]).state, 'beta')).toBe(true);
    expect(mayCare(given([...two, [fleet.remove('beta'), operator]]).state, 'beta')).toBe(false);
  });

  it('begins nothing new while it drains', () => {
    const { state } = given([...two, [create('A'), operator], [fleet.drain('beta'), operator]]);
    expect(decide(state, claim('A'), worker, OPEN, 'beta')).toMatchObject({ refusal: { code: 'host-draining' } });
    expect(decide(state, create('B'), operator, OPEN, 'beta')).toMatchObject({ ok: true });
    expect(decide(state, claim('A'), worker, OPEN, 'alpha')).toMatchObject({ ok: true });
  });
});

describe('the caretaker', () => {
  const cared: readonly Step[] = [...two, [fleet.care('alpha', 3), system]];

  it('changes only with a larger term, even for the same host', () => {
    given(two)
      .when(fleet.care('alpha', 1), system)
      .then([event('CaretakerChanged', { host: 'alpha', term: 1 })]);
    given(cared).when(fleet.care('alpha', 3), system).then([]);
    given(cared).when(fleet.care('beta', 3), system).thenRefused('stale caretaker: term 3 < 3');
    given(cared).when(fleet.care('beta', 2), system).thenRefused('stale caretaker: term 2 < 3');
    given(cared)
      .when(fleet.care('alpha', 5), system)
      .then([event('CaretakerChanged', { host: 'alpha', term: 5 })]);
    given(cared).when(fleet.care('gamma', 5), system).thenRefused('no-such-host');
  });

  it('of an older term changes nothing, whatever it reports', () => {
    const after = given([...cared, [create('A'), operator], [claim('A'), worker]]);
    const expire = { kind: 'expire-claim', command: { id: 'A', epoch: 1 } } as const;
    after.when(expire, fleet.caretaker(2)).thenRefused('stale caretaker: term 2 < 3');
    after.when(flow.finishMerge('m1', 'merged', ROOT), fleet.caretaker(2)).thenRefused('stale-caretaker');
    after.when(expire, fleet.caretaker(3)).thenTypes(['ClaimExpired']);
  });

  it('may report under a term that is not recorded yet, because its lease is newer', () => {
    const after = given([...cared, [create('A'), operator], [claim('A'), worker]]);
    after
      .when({ kind: 'expire-claim', command: { id: 'A', epoch: 1 } }, fleet.caretaker(4))
      .thenTypes(['ClaimExpired']);
  });
});

describe('the runbook in force', () => {
  it('is adopted with the same entries on every host, and all decide by it', () => {
    const { state } = given(two);
    const [here, there] = ['alpha', 'beta'].map((host) =>
      decide(state, flow.adopt('1'.repeat(64)), operator, OPEN, host),
    );
    expect(here).toMatchObject({ ok: true, answer: { adopted: true } });
    expect(there).toEqual(here);
    const [asked, again] = ['alpha', 'beta'].map((host) =>
      decide(state, flow.askAdoption('2'.repeat(64)), system, OPEN, host),
    );
    expect(asked).toMatchObject({ ok: true, events: [{ type: 'DecisionOpened' }] });
    expect(again).toEqual(asked);
  });
});

describe('the level of the ledger', () => {
  it('only rises', () => {
    const raise = (level: number) => ({ kind: 'raise-level', command: { level } }) as const;
    const next = LEDGER_LEVEL + 1;
    given(alone)
      .when(raise(next), system)
      .then([event('LevelRaised', { level: next })]);
    const after = given([...alone, [raise(next), system]]);
    expect(findFleet(after.state)?.level).toBe(next);
    after.when(raise(next), system).then([]);
    after.when(raise(1), system).then([]);
  });
});

describe('the work of a task', () => {
  /** A session on alpha with a worktree. */
  const begun: readonly Step[] = [
    ...two,
    [create('A'), operator],
    event('TaskClaimed', {
      task_id: 'A',
      epoch: 1,
      session_id: 's1',
      holder: 'bob',
      principal: 'worker:bob',
      role: null,
      requires: [],
      host: 'alpha',
    }),
    [flow.nameBranch('A', 1, 'task/a'), system],
    [flow.prepare('A', 1), system],
  ];
  const over = event('ClaimReleased', { task_id: 'A', epoch: 1, session_id: 's1', reason: null });
  const expired = event('ClaimExpired', { task_id: 'A', epoch: 1, session_id: 's1', reason: null });

  function reach(steps: readonly Step[], host = 'beta') {
    const { state, task } = given(steps);
    return findOutOfReach(state, task('A'), host);
  }

  it('is available everywhere while there is none', () => {
    expect(reach([...two, [create('A'), operator]])).toBeUndefined();
  });

  it('is available everywhere if the branch has only a name', () => {
    expect(reach([...begun.slice(0, -1), over])).toBeUndefined();
  });

  it('is available on its own host, and on another one once it was pushed', () => {
    expect(reach([...begun, over], 'alpha')).toBeUndefined();
    expect(reach([...begun, over])).toEqual({ host: 'alpha', reason: 'nothing of the last session was pushed yet' });
    expect(reach([...begun, [fleet.pushed('alpha'), system], over])).toBeUndefined();
  });

  it('stays on its host while its last push failed', () => {
    const failed: readonly Step[] = [...begun, [fleet.pushed('alpha'), system], [fleet.pushFailed('alpha'), system]];
    expect(reach([...failed, over])).toEqual({ host: 'alpha', reason: 'the last push failed: no route to host' });
    expect(reach([...failed, over, [fleet.pushed('alpha', 1, 'b'.repeat(40)), system]])).toBeUndefined();
  });

  it('continues on any host from the last successful push if its claim expired or its host was removed', () => {
    const pushed: readonly Step[] = [...begun, [fleet.pushed('alpha'), system], [fleet.pushFailed('alpha'), system]];
    expect(reach([...pushed, expired])).toBeUndefined();
    expect(given([...pushed, expired]).task('A').work?.pushed).toMatchObject({ sha: 'a'.repeat(40) });
    expect(reach([...begun, expired])).toBeUndefined();
    expect(reach([...begun, over, [fleet.remove('alpha'), operator]])).toBeUndefined();
  });

  it('from before the fleet is on the host that founded it', () => {
    const old: readonly Step[] = [
      [create('A'), operator],
      [claim('A'), worker],
      [flow.nameBranch('A', 1, 'task/a'), system],
      [flow.prepare('A', 1), system],
      over,
      ...two,
    ];
    expect(reach(old, 'alpha')).toBeUndefined();
    expect(reach(old)).toMatchObject({ host: 'alpha' });
  });

  it('is claimed on another host only if it is available there, and the refusal names the host and the reason', () => {
    const { state } = given([...begun, over]);
    expect(decide(state, claim('A', 's2'), worker, OPEN, 'beta')).toMatchObject({
      refusal: {
        code: 'out-of-reach',
        message: 'the work of A is on alpha: nothing of the last session was pushed yet',
      },
    });
    expect(decide(state, claim('A', 's2'), worker, OPEN, 'alpha')).toMatchObject({ ok: true });
  });

  it('is recorded as pushed once per commit, and as failed once per reason', () => {
    given([...begun, [fleet.pushed('alpha'), system]])
      .when(fleet.pushed('alpha'), system)
      .then([]);
    given([...begun, [fleet.pushFailed('alpha'), system]])
      .when(fleet.pushFailed('alpha'), system)
      .then([]);
  });

  it('of an earlier claim, or of another host, is not recorded', () => {
    const after = given([...begun, over, [claim('A', 's2'), worker]]);
    after.when(fleet.pushed('alpha', 1), system).thenRefused('stale claim: epoch 1 < 2');
    given(begun).when(fleet.pushed('beta', 1), system).thenRefused('other-host');
    given(begun.slice(0, -2)).when(fleet.pushFailed('beta', 1), system).thenRefused('other-host');
  });
});
