import type { ValueOf } from '../protocol/shape/shape.ts';
import { choice, count, flag, list, nullable, object, text, whole } from '../protocol/shape/build-shape.ts';

const hostView = object({
  name: text,
  state: {
    ...choice(['live', 'silent', 'draining', 'removed']),
    about: '`silent`: no report for more than 5 s; `draining`: it takes no new work.',
  },
  here: { ...flag, about: 'This host answers the call.' },
  caretaker: {
    ...flag,
    about: 'It is the caretaker, which runs timers, checks, merges, pull requests and notifications.',
  },
  key: { ...text, about: 'The fingerprint of its key.' },
  labels: list(text),
  agents: { ...object({ running: count, allowed: count }), about: 'How many agents run on it, and how many may.' },
  claims: { ...count, about: 'How many claims its sessions hold.' },
  version: { ...nullable(text), about: 'The version of its daemon; null if it has not reported to this database.' },
  level: { ...nullable(whole), about: 'The level of entries that it can read and write.' },
  lag: { ...nullable(count), about: 'How many entries its replica is behind.' },
  offset_ms: { ...nullable(whole), about: "Its clock minus the database's." },
  silent_ms: { ...nullable(count), about: "The time since its last report, by the database's clock." },
  summary: { ...text, about: 'The same as a text, which every surface shows.' },
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
  here: { ...text, about: 'The host that answers the call.' },
  hosts: list(hostView),
  caretaker: {
    ...nullable(object({ host: text, term: { ...whole, about: 'The number of its time as caretaker.' } })),
    about: 'Null if no host holds its lease.',
  },
  joining: { ...count, about: 'How many hosts ask to join.' },
  requests: {
    ...list(
      object({
        host: text,
        fingerprint: text,
        labels: list(text),
        agents: { ...count, about: 'How many agents may run on it.' },
      }),
    ),
    about: 'The hosts that ask to join. Empty for callers other than operators, and while the database is away.',
  },
  level: { ...whole, about: 'The newest kind of entries that every live host can read.' },
  size: { ...whole, about: 'How many entries the ledger has, as far as this host knows.' },
  remote: { ...nullable(text), about: 'The git remote by which work travels.' },
  store: object({
    url: { ...text, about: 'The address of the database, without user and password.' },
    generation: { ...nullable(text), about: 'The server, its timeline and its start; null before the first answer.' },
    away_since: { ...nullable(text), about: 'When the database stopped answering; null while it answers.' },
    latency_ms: { ...nullable(whole), about: 'How long the last report of this host took.' },
  }),
  problems: {
    ...list(object({ message: text, hint: text })),
    about: 'Why this host does not take part, or does not write its replica.',
  },
});
export type FleetView = ValueOf<typeof fleetView>;
