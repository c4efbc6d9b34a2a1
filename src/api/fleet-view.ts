import type { ValueOf } from '../protocol/shape/shape.ts';
import { choice, count, flag, list, nullable, object, text, whole } from '../protocol/shape/build-shape.ts';

const hostView = object({
  name: text,
  state: {
    ...choice(['live', 'silent', 'draining', 'removed']),
    about: '`silent`: no report for more than 5 s; `draining`: it takes no new work.',
  },
  here: { ...flag, about: 'It is the host that answers.' },
  caretaker: { ...flag, about: 'It runs what no host owns: timers, checks, merges, pull requests, notifications.' },
  key: { ...text, about: 'The fingerprint of its key.' },
  labels: list(text),
  agents: object({ running: count, allowed: count }),
  claims: { ...count, about: 'How many claims its sessions hold.' },
  version: { ...nullable(text), about: 'Null if it has not reported to this database.' },
  level: { ...nullable(whole), about: 'The level of entries that it can read and write.' },
  lag: { ...nullable(count), about: 'How many entries its replica is behind.' },
  offset_ms: { ...nullable(whole), about: "Its clock minus the database's." },
  silent_ms: { ...nullable(count), about: "Since its last report, by the database's clock." },
  summary: { ...text, about: 'In words, as every surface shows it.' },
});
export type HostView = ValueOf<typeof hostView>;

/** Describes the state of a host. */
export function describeHostState({ state, silent_ms: ms }: Pick<HostView, 'state' | 'silent_ms'>): string {
  if (state !== 'silent') return state;
  return ms === null ? 'has not reported' : `silent for ${renderSeconds(ms)}`;
}

export function summarizeHost(host: Omit<HostView, 'summary'>): string {
  const { caretaker, agents, labels, lag, offset_ms: offset, version } = host;
  return [
    describeHostState(host),
    caretaker ? 'caretaker' : '',
    host.state === 'removed' ? '' : describeAgents(agents),
    labels.length === 0 ? '' : `labels ${labels.join(', ')}`,
    lag === null || lag === 0 ? '' : `${lag} ${lag === 1 ? 'entry' : 'entries'} behind`,
    offset === null || Math.abs(offset) < SHOWN_OFFSET_MS ? '' : describeClock(offset),
    version === null ? '' : `version ${version}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

export function describeAgents({ running, allowed }: HostView['agents']): string {
  return allowed >= NO_LIMIT_OF_ITS_OWN ? `agents ${running}` : `agents ${running} of ${allowed}`;
}

/** The limit of a host that sets none. The runbook's `limits.agents` still applies. */
export const NO_LIMIT_OF_ITS_OWN = 10_000;

export function describeClock(offsetMs: number): string {
  return `clock ${renderSeconds(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead' : 'behind'}`;
}

function renderSeconds(ms: number): string {
  if (ms >= 7_200_000) return `${Math.round(ms / 3_600_000)} h`;
  return ms >= 120_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 1000)} s`;
}

/** A smaller clock offset is not shown. */
const SHOWN_OFFSET_MS = 1000;

/** The same answer for `status --fleet`, `host list`, the page and MCP. */
export const fleetView = object({
  here: { ...text, about: 'The host that answers.' },
  hosts: list(hostView),
  caretaker: nullable(object({ host: text, term: whole })),
  joining: { ...count, about: 'How many hosts ask to join.' },
  requests: {
    ...list(object({ host: text, fingerprint: text, labels: list(text), agents: count })),
    about: 'The hosts that ask to join. Empty for callers other than operators, and while the database is away.',
  },
  level: { ...whole, about: 'The level of entries in force.' },
  size: { ...whole, about: 'How many entries the ledger has, as far as this host knows.' },
  remote: { ...nullable(text), about: 'The git remote on record, by which work travels.' },
  store: object({
    url: { ...text, about: 'Without user and password.' },
    generation: { ...nullable(text), about: 'The server, its timeline and its start; null before the first answer.' },
    away_since: { ...nullable(text), about: 'Since when the database has not answered; null while it answers.' },
    latency_ms: { ...nullable(whole), about: 'The duration of the last report of this host.' },
  }),
  problems: {
    ...list(object({ message: text, hint: text })),
    about: 'Why this host does not take part, or why its replica is not written.',
  },
});
export type FleetView = ValueOf<typeof fleetView>;
