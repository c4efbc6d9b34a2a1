import { rememberHostName } from '../../api/host-name.ts';
import { findOriginUrl, findRootCommit } from '../../git/remote/origin.ts';
import { originOf, renderKey } from '../../ledger/format/checkpoint.ts';
import type { Signer } from '../../ledger/format/crypto.ts';
import { keyFingerprint } from '../../ledger/format/fingerprint.ts';
import { nodeSha256 } from '../../ledger/writer/keys.ts';
import { problem, type Problem } from '../../protocol/shape/problem.ts';
import { findFleet, findHost } from '../../state/fleet/fleet.ts';
import type { CommandLoop } from '../loop/command-loop.ts';

interface Part {
  readonly project: string;
  readonly path: string;
  readonly stateDir: string;
  readonly host: string;
  readonly signer: Pick<Signer, 'publicKey'>;
  readonly commandLoop: Pick<CommandLoop, 'read' | 'submitCommand'>;
}

/** The first host founds the fleet. Every other host must have been admitted under its name and with its key. */
export async function takePart({
  project,
  path,
  stateDir,
  host,
  signer,
  commandLoop,
}: Part): Promise<Problem | undefined> {
  const key = keyFingerprint(nodeSha256, signer.publicKey);
  const read = await commandLoop.read(({ state }) => ({ fleet: findFleet(state), known: findHost(state, host) }));
  if (!read.ok)
    return 'problem' in read ? read.problem : problem(read.refusal.code, read.refusal.message, read.refusal.hint);
  const { fleet, known } = read.answer;
  if (fleet !== undefined) return known?.key === key ? undefined : notAdmitted(host, known?.key);
  const publicKey = renderKey(nodeSha256, { name: originOf(project), publicKey: signer.publicKey });
  const [rootCommit, remote] = await Promise.all([findRootCommit(path), findOriginUrl(path)]);
  const terms = { host, key, publicKey, labels: [], agents: NO_LIMIT_OF_ITS_OWN };
  const command = {
    ...terms,
    rootCommit: rootCommit.ok ? rootCommit.value : null,
    remote: remote.ok ? remote.value : null,
  };
  const founded = await commandLoop.submitCommand({ kind: 'found-fleet', command }, { kind: 'system', name: 'fleet' });
  if (founded.ok) {
    rememberHostName(stateDir, host);
    return undefined;
  }
  if ('problem' in founded) return founded.problem;
  // Another host was faster.
  return notAdmitted(host, undefined);
}

/** The limit of a host that sets none. The runbook's `limits.agents` still applies. */
const NO_LIMIT_OF_ITS_OWN = 10_000;

function notAdmitted(host: string, other: string | undefined): Problem {
  if (other !== undefined)
    return problem(
      'host/other-key',
      `the host ${host} of this project has another key (${other})`,
      'Join under another name: baton host join URL --name NAME',
    );
  const message = `the host ${host} is not in the fleet of this project`;
  return problem('host/not-admitted', message, 'Ask to join: baton host join URL');
}
