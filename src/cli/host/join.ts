import { findHostName, rememberHostName } from '../../api/host-name.ts';
import { NO_LIMIT_OF_ITS_OWN } from '../../api/fleet-view.ts';
import { readProjectList, writeProjectStore } from '../../api/project-list.ts';
import { makeFleetTables } from '../../fleet/tables.ts';
import { findOriginUrl, findRootCommit } from '../../git/remote/origin.ts';
import { originOf, renderKey } from '../../ledger/format/checkpoint.ts';
import { keyFingerprint } from '../../ledger/format/fingerprint.ts';
import type { Store } from '../../ledger/store.ts';
import { nodeSha256, openKeyFile } from '../../ledger/writer/keys.ts';
import { HOST_LABEL, HOST_NAME, type JoinRequest } from '../../protocol/fleet.ts';
import { problem, type Problem } from '../../protocol/shape/problem.ts';
import { findStoreUrlProblem, renderStoreUrl } from '../../protocol/store-url.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments, type UsageError } from '../command.ts';
import { findLedger, type FoundProject } from '../ledger/find-ledger.ts';
import { numberOption, PROJECT_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import type { FleetOnRecord } from '../store/fleet-on-record.ts';
import { type OpenedDatabase, withDatabase } from '../store/open-database.ts';
import { buildReplica } from './build-replica.ts';
import { waitUntilAdmitted } from './wait-until-admitted.ts';

export const hostJoinCommand: CliCommand = {
  examples: [
    'baton host join postgres://baton@db.example/baton',
    'baton host join URL --name build-7 --labels gpu,linux --agents 8 --wait',
  ],
  args: [{ name: 'URL', about: 'The database (default: `store` of baton.toml)', optional: true }],
  options: [
    { name: 'name', value: 'NAME', about: "The name of this host (default: the machine's own)" },
    { name: 'labels', value: 'A,B', isList: true, about: 'Labels of this machine; workers select hosts by labels' },
    { name: 'agents', value: 'N', about: 'How many agents may run here at once (default: no limit for this host)' },
    { name: 'wait', about: 'Wait until this host is admitted' },
    PROJECT_OPTION,
  ],
  exitCodes: {
    0: 'asked; with --wait, admitted',
    1: 'the database or the git remote refuses',
    4: 'what is stored is not what was recorded',
  },
  async run(given, io) {
    const asked = readAsked(given, io);
    if ('usage' in asked) return asked;
    const ledger = await findLedger(given, io);
    if (!ledger.ok) return reportProblem(ledger.problem, io);
    const { found, place } = ledger;
    const url = given.args[0] ?? found.store;
    if (url === undefined) return { usage: 'URL is needed: baton.toml names no store' };
    const wrong = findStoreUrlProblem(url);
    if (wrong !== undefined) return reportProblem(wrong, io);
    const named = asked.name ?? findHostName(found.stateDir, io.env);
    const host = await describeHost(found, url, named);
    if ('problem' in host) return reportProblem(host.problem, io);
    return withDatabase({ url, id: found.id }, io, async (opened) => {
      const signer = openKeyFile(place.key);
      if (!signer.ok) return reportProblem(signer.problems[0], io);
      const { publicKey } = signer.value;
      const built = await buildReplica(opened.store, place, signer.value, io);
      if (!built.ok) return reportProblem(built.problem, io);
      const { fleet } = built;
      const key = keyFingerprint(nodeSha256, publicKey);
      const refused = findRefusal(fleet, { ...host, name: named, key, project: found.id, url });
      if (refused !== undefined) {
        built.drop();
        return reportProblem(refused, io);
      }
      rememberHostName(found.stateDir, named);
      writeProjectStore(found.stateDir, found.id, { path: found.repository.mainTop, store: url });
      built.keep();
      const line = renderKey(nodeSha256, { name: originOf(found.id), publicKey });
      const { labels, agents } = asked;
      const request = { host: named, publicKey: line, labels, agents, rootCommit: host.rootCommit };
      return ask(request, { found, url, key, fleet, isWaiting: given.options.has('wait') }, opened, io);
    });
  },
};

interface Asked {
  readonly name: string | undefined;
  readonly labels: readonly string[];
  readonly agents: number;
}

function readAsked(given: ParsedArguments, { env }: Pick<Io, 'env'>): Asked | UsageError {
  const { options } = given;
  const name = options.get('name') ?? (env['BATON_HOST'] || undefined);
  if (name !== undefined && !HOST_NAME.test(name))
    return {
      usage: `'${name}' is not a valid name of a host: use lower-case letters, digits, dots and dashes, at most 63`,
    };
  const labels = (options.get('labels') ?? '').split(',').filter((label) => label !== '');
  const wrong = labels.find((label) => !new RegExp(HOST_LABEL.pattern).test(label));
  if (wrong !== undefined) return { usage: `'${wrong}' is no label: ${HOST_LABEL.expected}` };
  const agents = numberOption(given, 'agents');
  if ('usage' in agents) return agents;
  const { value = NO_LIMIT_OF_ITS_OWN } = agents;
  if (!Number.isSafeInteger(value) || value < 0) return { usage: '--agents must be a whole number from 0' };
  return { name, labels: [...new Set(labels)], agents: value };
}

interface HostFacts {
  readonly rootCommit: string;
  readonly remote: string;
}

/** Reads the facts about this machine's clone, or why it cannot be a host. */
async function describeHost(
  { id, stateDir, repository, store, isKnown }: FoundProject,
  url: string,
  name: string,
): Promise<HostFacts | { readonly problem: Problem }> {
  if (isKnown && store === undefined) return { problem: ownLedger(id, url) };
  if (store !== undefined && renderStoreUrl(store) !== renderStoreUrl(url)) return { problem: otherStore(store, url) };
  const known = findHostName(stateDir, {});
  if (known !== name && isInAnotherFleet(stateDir, id)) return { problem: otherName(known, name) };
  const remote = await findOriginUrl(repository.mainTop);
  if (!remote.ok) return remote;
  if (remote.value === null) return { problem: NO_REMOTE };
  const root = await findRootCommit(repository.mainTop);
  return root.ok ? { rootCommit: root.value, remote: remote.value } : root;
}

/** Whether the folder is in another fleet, because a state folder has one name in all its fleets. */
function isInAnotherFleet(stateDir: string, id: string): boolean {
  return [...readProjectList(stateDir)].some(([other, { store }]) => other !== id && store !== undefined);
}

interface Joining extends HostFacts {
  readonly name: string;
  readonly key: string;
  readonly project: string;
  readonly url: string;
}

function findRefusal(fleet: FleetOnRecord | undefined, joining: Joining): Problem | undefined {
  const { name, key, project, url, rootCommit } = joining;
  if (fleet === undefined) {
    const message = `there is no project ${project} in ${renderStoreUrl(url)}`;
    const hint =
      'On the machine that has its ledger: baton store move --to URL, then baton up. Check `project` in baton.toml.';
    return problem('no-fleet', message, hint);
  }
  if (fleet.rootCommit !== rootCommit) {
    const message = `the first commit of this repository is ${rootCommit}, that of the project ${project} is ${fleet.rootCommit ?? 'unknown'}`;
    return problem('other-repository', message, 'Join from a clone of the repository of the project.');
  }
  const known = fleet.hosts.get(name);
  if (known !== undefined && known.key !== key) {
    const message = `another machine is host ${name} of this project, with the key ${known.key}`;
    return problem(
      'host-exists',
      message,
      'Choose another name: --name NAME. If that machine is gone: baton host remove NAME.',
    );
  }
  const [other] = [...fleet.hosts].find(([host, { key: theirs }]) => theirs === key && host !== name) ?? [];
  if (other === undefined) return undefined;
  const message = `this state folder has the key of host ${other}`;
  return problem(
    'host-exists',
    message,
    `Join as ${other}: --name ${other}. Or use another state folder: BATON_STATE_DIR.`,
  );
}

interface Around {
  readonly found: FoundProject;
  readonly url: string;
  readonly key: string;
  readonly fleet: FleetOnRecord | undefined;
  readonly isWaiting: boolean;
}

async function ask(
  request: JoinRequest,
  { found, url, key, fleet, isWaiting }: Around,
  { store, project, connect }: OpenedDatabase,
  io: Io,
): Promise<number> {
  const { host, labels, agents } = request;
  const known = fleet?.hosts.get(host);
  if (known !== undefined && known.agents === agents && known.labels.join() === labels.join()) {
    io.out(`This machine is host ${host} of ${found.id}. Start it: baton up\n`);
    return EXIT.ok;
  }
  await makeFleetTables(connect('host join'), project).requestJoin(request);
  io.out(
    [
      `Host ${host} asks to join ${found.id} in ${renderStoreUrl(url)}.`,
      `fingerprint: ${key}`,
      'Then type this on a host that was admitted:',
      `  baton host admit ${host} ${key}`,
      '',
    ].join('\n'),
  );
  if (isWaiting) return wait(store, { host, key, labels, agents }, io);
  io.out('When it is admitted: baton up\n');
  return EXIT.ok;
}

async function wait(store: Store, wanted: Parameters<typeof waitUntilAdmitted>[1], io: Io): Promise<number> {
  io.err('Waiting until it is admitted. Ctrl-C stops waiting; the request stays.\n');
  await waitUntilAdmitted(store, wanted);
  io.out('Admitted. Start it: baton up\n');
  return EXIT.ok;
}

const NO_REMOTE = problem(
  'no-remote',
  'this clone has no remote `origin`, and hosts exchange work by git',
  'Clone the repository from a remote that every host reaches, or: git remote add origin URL',
);

function ownLedger(id: string, url: string): Problem {
  const message = `this machine has a ledger of its own for ${id}`;
  const hint = `To share it with other hosts: baton store move --to ${url}. To join with another clone: BATON_STATE_DIR=…`;
  return problem('wrong-store', message, hint);
}

function otherStore(store: string, url: string): Problem {
  const message = `baton.toml or this state folder names ${renderStoreUrl(store)}, not ${renderStoreUrl(url)}`;
  return problem('wrong-store', message, `Join that one, or correct \`store\` in baton.toml.`);
}

function otherName(known: string, name: string): Problem {
  const message = `this state folder is host ${known} already, and cannot be ${name} too`;
  return problem('host-exists', message, `Leave --name out, or use another state folder: BATON_STATE_DIR.`);
}
