import { describe, expect, it } from 'vitest';
import type { FleetView } from '../../../api/fleet-view.ts';
import { Play } from '../../../engine/play.cases.ts';
import { type HostRow, LEDGER_LEVEL } from '../../../protocol/fleet.ts';
import type { Caller } from '../../../state/caller.ts';
import * as fleet from '../../../state/fleet/say.cases.ts';
import * as say from '../../../state/say.cases.ts';
import { createFleetView, type FleetMeasures } from '../../views/fleet-view.ts';
import { fleetAttention, pushAttention } from './attention.ts';

const SYSTEM: Caller = { kind: 'system', name: 'daemon' };

function play(): Play {
  return new Play().say(fleet.found(), SYSTEM).order(fleet.admit('beta', { labels: ['gpu'], agents: 8 }));
}

function row(host: string, more: Partial<HostRow> = {}): HostRow {
  return {
    host,
    key: `key of ${host}`,
    version: '2.0.0',
    level: LEDGER_LEVEL,
    size: 10,
    offsetMs: 2,
    waiting: 0,
    silentMs: 300,
    ...more,
  };
}

function measures(rows: readonly HostRow[], more: Partial<FleetMeasures> = {}): FleetMeasures {
  const answer = { hosts: rows, caretaker: { host: 'alpha', term: 3 }, generation: '7/1/2', joining: 0 };
  const url = 'postgres://baton@db.example/baton';
  return { here: 'alpha', size: 12, answer, url, awaySince: null, latencyMs: 1.4, ...more };
}

function viewOf(measured: FleetMeasures, at = play()): FleetView {
  const view = createFleetView(at.state, measured);
  if (view === undefined) throw new Error('there is no fleet');
  return view;
}

const titles = (view: FleetView): readonly string[] =>
  fleetAttention(view).map(({ kind, title }) => `${kind}: ${title}`);

describe('the view of a fleet', () => {
  it('is absent on SQLite', () => {
    expect(createFleetView(new Play().state, measures([]))).toBeUndefined();
  });

  it('joins what is on record with what the hosts report', () => {
    const view = viewOf(measures([row('alpha', { size: 12 }), row('beta', { offsetMs: -4200 })]));
    expect(view).toMatchObject({
      caretaker: { host: 'alpha', term: 3 },
      size: 12,
      store: { url: 'postgres://db.example/baton', generation: '7/1/2', away_since: null, latency_ms: 1 },
    });
    expect(view.hosts.map(({ name, summary }) => `${name}: ${summary}`)).toEqual([
      'alpha: live; caretaker; agents 0 of 4; version 2.0.0',
      'beta: live; agents 0 of 8; labels gpu; 2 entries behind; clock 4 s behind; version 2.0.0',
    ]);
  });

  it('shows hosts that are silent, drain, were removed or never reported', () => {
    const at = play().order(fleet.admit('gamma')).order(fleet.admit('delta')).order(fleet.drain('gamma'));
    at.order(fleet.remove('delta'));
    const view = viewOf(measures([row('alpha'), row('gamma')]), at);
    expect(view.hosts.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'alpha live',
      'beta silent',
      'gamma draining',
      'delta removed',
    ]);
  });

  it('never calls the host that answers silent', () => {
    expect(viewOf(measures([row('alpha', { silentMs: 60_000 })])).hosts[0]).toMatchObject({ state: 'live' });
  });
});

describe('what needs a person in a fleet', () => {
  it('is nothing while every host reports', () => {
    expect(titles(viewOf(measures([row('alpha'), row('beta')])))).toEqual([]);
  });

  it('is a silent host with claims, unless the database is away', () => {
    const rows = [row('alpha'), row('beta', { silentMs: 42_000 })];
    const silent = viewOf(measures(rows));
    expect(titles(silent)).toEqual([]);
    const holding = (view: FleetView): FleetView => ({
      ...view,
      hosts: view.hosts.map((host) => (host.name === 'beta' ? { ...host, claims: 2 } : host)),
    });
    expect(titles(holding(silent))).toEqual(['host: Host beta is silent for 42 s, with 2 claims']);
    expect(titles(holding(viewOf(measures(rows, { awaySince: '2026-01-01T00:00:00.000Z' }))))).toEqual([]);
  });

  it('is a clock that is more than 30 s off, either way', () => {
    const offs = (ms: number) => titles(viewOf(measures([row('alpha'), row('beta', { offsetMs: ms })])));
    expect(offs(29_000)).toEqual([]);
    expect(offs(3_600_000)).toEqual(["clock: Host beta: clock 60 min ahead of the database's"]);
    expect(offs(-31_000)).toEqual(["clock: Host beta: clock 31 s behind the database's"]);
  });

  it('is a host below the level in force', () => {
    const view = { ...viewOf(measures([row('alpha'), row('beta')])), level: LEDGER_LEVEL + 1 };
    expect(titles(view)).toEqual([
      'version: Host alpha runs version 2.0.0 and decides nothing',
      'version: Host beta runs version 2.0.0 and decides nothing',
    ]);
  });

  it('is what keeps this host from taking part, or its replica from being written', () => {
    const problems = [{ message: 'another machine of this project is called alpha', hint: 'Choose another name.' }];
    const [reason, ...others] = fleetAttention(viewOf(measures([row('alpha'), row('beta')], { problems })));
    expect(others).toEqual([]);
    expect(reason).toMatchObject({
      kind: 'host',
      title: 'Host alpha: another machine of this project is called alpha',
      context: 'Choose another name.',
    });
  });

  it('is a request to join', () => {
    expect(titles({ ...viewOf(measures([row('alpha'), row('beta')])), joining: 2 })).toEqual([
      'joining: 2 hosts ask to join',
    ]);
  });

  it('is work that could not be pushed', () => {
    const at = play().order(say.create('A'));
    expect(pushAttention(at.state)).toEqual([]);
    at.order(say.claim('A', 's1'));
    at.say(fleet.pushFailed('alpha', 1, 'no route to host'), SYSTEM);
    expect(pushAttention(at.state)).toEqual([
      {
        kind: 'push',
        count: 1,
        task_id: 'A',
        title: 'The work on A is only on host alpha: it could not be pushed',
        context: 'no route to host',
        next: 'baton task show A',
      },
    ]);
    at.say(fleet.pushed('alpha', 1), SYSTEM);
    expect(pushAttention(at.state)).toEqual([]);
  });
});
