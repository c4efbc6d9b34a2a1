import type { FleetView } from '../../../api/fleet-view.ts';
import * as operations from '../../../api/operations/fleet.ts';
import type { FleetTables } from '../../../fleet/tables.ts';
import { recordableRemote } from '../../../git/remote/remote-url.ts';
import { originOf, parseKey } from '../../../ledger/format/checkpoint.ts';
import { keyFingerprint } from '../../../ledger/format/fingerprint.ts';
import { isStoreUnavailable } from '../../../ledger/store.ts';
import { nodeSha256 } from '../../../ledger/writer/keys.ts';
import type { JoinRequest } from '../../../protocol/fleet.ts';
import { actorOf } from '../../../state/caller.ts';
import { refuseNoFleet } from '../../../state/fleet/admit-host.ts';
import { refusal } from '../../../state/outcome.ts';
import { createFleetView, type FleetMeasures } from '../../views/fleet-view.ts';
import {
  answerFor,
  type Call,
  handlerFor,
  refusalOf,
  type Refused,
  storeUnavailableError,
  submitCommand,
  submits,
} from '../call.ts';

/** The part of a project's fleet membership that the operations use. */
interface FleetPort {
  measures(): FleetMeasures;
  readonly tables: Pick<FleetTables, 'joinRequests' | 'dropJoinRequest' | 'forgetHost'>;
}

export const FLEET_HANDLERS = {
  fleet_show: handlerFor(operations.fleetShow, async ({ project, caller }) => {
    const { fleet } = project;
    if (fleet === undefined) return { ok: true, result: { fleet: null } };
    const settled = await project.commandLoop.read(({ state }) => createFleetView(state, fleet.measures()));
    if (!settled.ok) return refusalOf(settled);
    const view = settled.answer ?? null;
    if (view === null || caller.kind !== 'operator') return { ok: true, result: { fleet: view } };
    return { ok: true, result: { fleet: { ...view, ...(await listRequests(fleet, project.id)) } } };
  }),

  host_admit: handlerFor(operations.hostAdmit, async (call) => {
    const { project, input } = call;
    const { fleet } = project;
    if (fleet === undefined) return refusalOf(refuseNoFleet());
    const requests = await readRequests(fleet);
    if ('error' in requests) return requests;
    const request = requests.find(({ host }) => host === input.host);
    if (request === undefined) return refusalOf(refuseNoRequest(input.host, requests));
    const { host, labels, agents, publicKey, rootCommit } = request;
    const key = fingerprintOf(request, project.id);
    if (key === undefined || key !== input.fingerprint) return refusalOf(refuseOtherKey(host, key));
    const command = { host, key, publicKey, labels, agents, rootCommit, by: actorOf(call.caller) };
    const settled = await submitCommand(call, { kind: 'admit-host', command });
    // If this fails, the request stays, and admitting it again has no effect.
    if (settled.ok) await fleet.tables.dropJoinRequest(host).catch(ignoreAway);
    return answerFor(settled, ({ isNew }) => ({ host, labels, agents, is_new: isNew }));
  }),

  host_drain: submits(
    operations.hostDrain,
    ({ host, draining }, { caller }) => ({ host, draining, by: actorOf(caller) }),
    (_, { host, draining }) => ({ host, draining }),
  ),

  host_remove: handlerFor(operations.hostRemove, async (call: Call<{ host: string; reason: string }>) => {
    const { host, reason } = call.input;
    if (call.project.fleet?.measures().here === host) return refusalOf(refuseOwnHost(host));
    const command = { host, reason, by: actorOf(call.caller) };
    const settled = await submitCommand(call, { kind: 'remove-host', command });
    if (settled.ok) await call.project.fleet?.tables.forgetHost(host).catch(ignoreAway);
    return answerFor(settled, () => ({ host }));
  }),

  host_remote: handlerFor(operations.hostRemote, async (call) => {
    const checked = recordableRemote(call.input.remote);
    if (!checked.ok) return refusalOf(refusal('bad-request', checked.problem.message, checked.problem.hint));
    const remote = checked.value;
    const command = { remote, by: actorOf(call.caller) };
    return answerFor(await submitCommand(call, { kind: 'change-remote', command }), () => ({ remote }));
  }),
};

/**
 * Asks the database itself, because this host's last report may be older than the request. Empty while the database is
 * unavailable.
 */
async function listRequests(
  fleet: FleetPort,
  project: string,
): Promise<Partial<Pick<FleetView, 'requests' | 'joining'>>> {
  const requests = await readRequests(fleet);
  if ('error' in requests) return {};
  return {
    joining: requests.length,
    requests: requests.map((request) => ({
      host: request.host,
      fingerprint: fingerprintOf(request, project) ?? '',
      labels: request.labels,
      agents: request.agents,
    })),
  };
}

async function readRequests({ tables }: FleetPort): Promise<readonly JoinRequest[] | Refused> {
  try {
    return await tables.joinRequests();
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error;
    return { ok: false, error: storeUnavailableError(error.problem) };
  }
}

/** The ledger already has the decision. These rows are only a convenience. */
function ignoreAway(error: unknown): void {
  if (!isStoreUnavailable(error)) throw error;
}

/** Undefined if the row does not hold a key for this project. */
function fingerprintOf({ publicKey }: Pick<JoinRequest, 'publicKey'>, project: string): string | undefined {
  const key = parseKey(nodeSha256, publicKey);
  return key.ok && key.value.name === originOf(project) ? keyFingerprint(nodeSha256, key.value.publicKey) : undefined;
}

/** Otherwise this host's own next entry would be refused. */
function refuseOwnHost(host: string): ReturnType<typeof refusal> {
  const hint = `Let it finish (baton host drain ${host}), then remove it from another host.`;
  return refusal('own-host', `a host cannot remove itself: this is ${host}`, hint);
}

function refuseNoRequest(host: string, requests: readonly JoinRequest[]): ReturnType<typeof refusal> {
  const others = requests.length === 0 ? 'No host asks.' : `Hosts that ask: ${requests.map((r) => r.host).join(', ')}.`;
  return refusal('no-such-host', `host ${host} does not ask to join`, `${others} On that machine: baton host join URL`);
}

function refuseOtherKey(host: string, found: string | undefined): ReturnType<typeof refusal> {
  const message = `the key that asks to join as ${host} has another fingerprint: ${found ?? 'it is no key of this project'}`;
  const hint =
    'Compare the fingerprint with the one that `baton host join` printed on that machine. If they differ, another machine asks: do not admit it.';
  return refusal('wrong-fingerprint', message, hint);
}
