import { didYouMean } from '../../protocol/shape/problem.ts';
import { HOST_LABEL, HOST_NAME, LEDGER_LEVEL } from '../../protocol/fleet.ts';
import { event, type Event, type Events } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import { findFleet, findHost, type FleetState, listHosts } from './fleet.ts';

/** A host's description of itself. */
interface HostTerms {
  readonly host: string;
  /** The fingerprint of the host's key. */
  readonly key: string;
  /** The key in the form of `KeyAdded`. */
  readonly publicKey: string;
  readonly labels: readonly string[];
  readonly agents: number;
}

export interface FoundFleet extends HostTerms {
  readonly rootCommit: string | null;
  readonly remote: string | null;
}

/** Founds the fleet. The first daemon on PostgreSQL does so once; the ledger trusts its key already. */
export function decideFoundFleet(state: FleetState, command: FoundFleet): Outcome<null> {
  const { host, rootCommit: root_commit, remote } = command;
  const fleet = findFleet(state);
  if (fleet !== undefined)
    return refusal('fleet-exists', `${fleet.founder} has founded this fleet`, 'Join the fleet: baton host join URL');
  const unfit = findUnfit(command);
  if (unfit !== undefined) return unfit;
  const level = LEDGER_LEVEL > 1 ? [event('LevelRaised', { level: LEDGER_LEVEL })] : [];
  const founded = event('FleetFounded', { host, root_commit, remote });
  return decided([founded, ...level, joinedEvent(command, `host:${host}`)], null);
}

export interface AdmitHost extends HostTerms {
  /** The first commit of the host's repository. */
  readonly rootCommit: string;
  readonly by: string;
}

/** Admits a host. A host that was admitted with the same key gets its new labels and number of agents. */
export function decideAdmitHost(state: FleetState, command: AdmitHost): Outcome<{ readonly isNew: boolean }> {
  const { host, key, publicKey, rootCommit, by } = command;
  const fleet = findFleet(state);
  if (fleet === undefined) return refuseNoFleet();
  const unfit = findUnfit(command);
  if (unfit !== undefined) return unfit;
  const known = findHost(state, host);
  if (known !== undefined && known.key !== key) {
    const message = `there is a host ${host} with another key (${known.key})`;
    return refusal('host-exists', message, 'Join under another name: BATON_HOST=NAME. Or remove the old host first.');
  }
  const owner = listHosts(state).find((other) => other.key === key && other.name !== host);
  if (owner !== undefined) {
    const message = `the key that asks to join as ${host} is that of host ${owner.name}`;
    return refusal('host-exists', message, 'Each host has a state folder and a key of its own: BATON_STATE_DIR.');
  }
  if (fleet.rootCommit !== rootCommit) {
    const message = `the first commit in the repository of ${host} is ${rootCommit}, that of this project is ${fleet.rootCommit ?? 'unknown'}`;
    return refusal('other-repository', message, 'Clone the repository of this project there, and join from the clone.');
  }
  if (fleet.remote === null) {
    const hint = 'Hosts exchange work by git. Name a remote that all hosts reach: baton host remote URL';
    return refusal('no-remote', 'this project has no git remote on record, so no second host can join', hint);
  }
  const isNew = known === undefined;
  const keys = isNew ? [event('KeyAdded', { key: publicKey })] : [];
  return decided([...keys, joinedEvent(command, by)], { isNew });
}

export interface DrainHost {
  readonly host: string;
  readonly draining: boolean;
  readonly by: string;
}

export function decideDrainHost(state: FleetState, { host, draining, by }: DrainHost): Outcome<null> {
  const known = findHost(state, host);
  if (known === undefined) return refuseUnknownHost(state, host);
  return decided(known.draining === draining ? [] : [event('HostDrained', { host, draining, by })], null);
}

export function decideChangeRemote(state: FleetState, command: Events['RemoteChanged']): Outcome<null> {
  const fleet = findFleet(state);
  if (fleet === undefined) return refuseNoFleet();
  return decided(fleet.remote === command.remote ? [] : [event('RemoteChanged', command)], null);
}

export function decideAcceptStore(_state: FleetState, command: Events['StoreAccepted']): Outcome<null> {
  return decided([event('StoreAccepted', command)], null);
}

export function refuseUnknownHost(state: FleetState, host: string): ReturnType<typeof refusal> {
  const message = state.hosts.has(host) ? `host ${host} was removed` : `there is no host ${host}`;
  const meant = didYouMean(
    host,
    listHosts(state).map(({ name }) => name),
  );
  return refusal('no-such-host', message, `${meant === undefined ? '' : `${meant} `}See all hosts: baton host list`);
}

export function refuseNoFleet(): ReturnType<typeof refusal> {
  return refusal('no-fleet', 'this project is not on PostgreSQL', 'Move the ledger there: baton store move --to URL');
}

function findUnfit({ host, labels, agents }: HostTerms): ReturnType<typeof refusal> | undefined {
  if (!HOST_NAME.test(host)) {
    const hint = 'Letters, digits, dots and hyphens in lower case, at most 63: BATON_HOST=NAME';
    return refusal('bad-host-name', `'${host}' is not a valid name of a host`, hint);
  }
  if (agents < 0 || !Number.isSafeInteger(agents))
    return refusal('bad-request', `${agents} is not a number of agents`, 'Use a whole number: --agents N');
  const wrong = labels.find((label) => !LABEL.test(label));
  if (wrong !== undefined || labels.length > MOST_LABELS)
    return refusal(
      'bad-request',
      `${host} has invalid labels`,
      `At most ${MOST_LABELS}, each of: ${HOST_LABEL.expected}`,
    );
  return undefined;
}

const LABEL = new RegExp(HOST_LABEL.pattern);
const MOST_LABELS = 64;

function joinedEvent({ host, key, publicKey, labels, agents }: HostTerms, by: string): Event {
  return event('HostJoined', { host, key, public_key: publicKey, labels, agents, by });
}
