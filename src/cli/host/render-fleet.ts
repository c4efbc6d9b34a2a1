import {
  describeAgents,
  describeClock,
  describeHostState,
  type FleetView,
  type HostView,
  NO_LIMIT_OF_ITS_OWN,
} from '../../api/fleet-view.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { renderTable } from '../table.ts';
import { printable } from '../text.ts';

export const NO_FLEET = 'This project is on one machine. To share it: baton store move --to URL\n';

/** Rendered below the status, indented like its other sections. */
export function renderFleetSection(fleet: FleetView | undefined): string {
  if (fleet === undefined) return NO_FLEET;
  return `fleet\n${renderFleet(fleet).replaceAll(/^(?=.)/gm, '  ')}`;
}

/** Renders the hosts, the database and the requests to join. */
export function renderFleet(fleet: FleetView): string {
  const { caretaker, store, level, remote, requests, joining } = fleet;
  const facts: (readonly [string, string])[] = [
    ['store', `${store.url}, ${describeStore(store)}`],
    ['caretaker', caretaker === null ? 'none' : `${caretaker.host}, term ${caretaker.term}`],
    ['remote', remote ?? 'none on record: no second host can join'],
    ['level', String(level)],
  ];
  return `${renderTable([HEADINGS, ...fleet.hosts.map(hostRow)])}${renderTable(facts)}${renderRequests(requests, joining)}`;
}

const HEADINGS = ['HOST', 'STATE', 'AGENTS', 'CLAIMS', 'LABELS', 'LAG', 'CLOCK', 'VERSION'];

function hostRow(host: HostView): readonly string[] {
  const { name, caretaker, here, labels, agents, claims, version, lag, offset_ms: offset } = host;
  if (host.state === 'removed') return [name, 'removed', '', '', '', '', '', ''];
  const marks = [describeHostState(host), caretaker ? 'caretaker' : '', here ? 'this host' : ''];
  return [
    name,
    marks.filter((mark) => mark !== '').join(', '),
    describeAgents(agents),
    `claims ${claims}`,
    labels.length === 0 ? 'no labels' : labels.join(','),
    lag === null ? 'lag unknown' : `${lag} behind`,
    offset === null ? 'clock unknown' : Math.abs(offset) < 1000 ? `clock ${signed(offset)} ms` : describeClock(offset),
    version ?? '',
  ];
}

function signed(ms: number): string {
  return ms < 0 ? String(ms) : `+${ms}`;
}

function describeStore({ away_since: away, latency_ms: latency }: FleetView['store']): string {
  if (away !== null) return `has not answered since ${away}`;
  return latency === null ? 'no answer yet' : `answers in ${latency} ms`;
}

/**
 * Does not print the fingerprint as part of the command, because the person must compare it with the host's own screen.
 */
function renderRequests(requests: FleetView['requests'], joining: number): string {
  if (joining === 0) return '';
  const lines = requests.map(({ host, fingerprint, labels, agents }) => {
    const room = agents >= NO_LIMIT_OF_ITS_OWN ? '' : `, agents ${agents}`;
    const has = labels.length === 0 ? '' : `, labels ${labels.join(',')}`;
    return printable(`  ${host}  fingerprint ${fingerprint}${room}${has}`);
  });
  const [first] = requests;
  const name = shellWord(printable(first?.host ?? 'NAME'));
  const next = `  compare it with what that machine printed, then: baton host admit ${name} FINGERPRINT`;
  return `${['ask to join', ...lines, next].join('\n')}\n`;
}
