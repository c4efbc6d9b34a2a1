import { expect, it } from 'vitest';
import { type FleetView, type HostView, summarizeHost } from '../../api/fleet-view.ts';
import { renderFleet, renderFleetSection } from './render-fleet.ts';

function host(name: string, more: Partial<HostView> = {}): HostView {
  const view = {
    name,
    state: 'live' as const,
    here: false,
    caretaker: false,
    key: '0'.repeat(32),
    labels: [],
    agents: { running: 1, allowed: 4 },
    claims: 1,
    version: '2.0.0',
    level: 1,
    lag: 0,
    offset_ms: 3,
    silent_ms: 200,
    ...more,
  };
  return { ...view, summary: summarizeHost(view) };
}

const FLEET: FleetView = {
  here: 'alpha',
  hosts: [
    host('alpha', { here: true, caretaker: true }),
    host('beta', { state: 'silent', silent_ms: 42_000, labels: ['gpu', 'linux'], lag: 7, offset_ms: -3_600_000 }),
    host('gamma', { state: 'silent', silent_ms: null, version: null, lag: null, offset_ms: null }),
  ],
  caretaker: { host: 'alpha', term: 3 },
  joining: 1,
  requests: [{ host: 'delta\u001b[2J', fingerprint: 'ab'.repeat(16), labels: ['gpu'], agents: 8 }],
  level: 1,
  size: 120,
  remote: 'git@example.org:shop.git',
  store: { url: 'postgres://db.example/baton', generation: '7/1/2', away_since: null, latency_ms: 2 },
  problems: [],
};

it('lists hosts, the database, and requests to join', () => {
  expect(renderFleet(FLEET)).toBe(
    [
      'HOST   STATE                       AGENTS         CLAIMS    LABELS     LAG          CLOCK                VERSION',
      'alpha  live, caretaker, this host  agents 1 of 4  claims 1  no labels  0 behind     clock +3 ms          2.0.0',
      'beta   silent for 42 s             agents 1 of 4  claims 1  gpu,linux  7 behind     clock 60 min behind  2.0.0',
      'gamma  has not reported            agents 1 of 4  claims 1  no labels  lag unknown  clock unknown',
      'store      postgres://db.example/baton, answers in 2 ms',
      'caretaker  alpha, term 3',
      'remote     git@example.org:shop.git',
      'level      1',
      'ask to join',
      `  delta\\u001b[2J  fingerprint ${'ab'.repeat(16)}, agents 8, labels gpu`,
      "  compare it with what that machine printed, then: baton host admit 'delta\\u001b[2J' FINGERPRINT",
      '',
    ].join('\n'),
  );
});

it('shows since when the database is unavailable, and that a project is on one machine', () => {
  const away = { ...FLEET, store: { ...FLEET.store, away_since: '2026-01-01T00:00:00.000Z' } };
  expect(renderFleetSection(away)).toContain('  store      postgres://db.example/baton, has not answered since 2026');
  expect(renderFleetSection(undefined)).toContain('baton store move --to URL');
});
