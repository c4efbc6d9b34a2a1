import type { Environment } from '../../../protocol/environment.ts';
import { probeNetwork } from '../../../sandbox/network/namespace/probe-network.ts';
import type { Usable } from '../../../sandbox/probe.ts';
import { type SandboxSurvey, surveySandboxes } from '../../../sandbox/survey.ts';
import { withSystemFolders } from '../../../sandbox/system-program.ts';
import { isRoot } from '../../../sandbox/user/agent-user.ts';
import type { SandboxFacts } from '../checks/sandbox.ts';
import type { Place } from '../place.ts';

export async function readSurvey({ env }: Place): Promise<SandboxSurvey> {
  return surveySandboxes(env, true);
}

export async function readSandboxFacts({ env }: Place, survey: SandboxSurvey): Promise<SandboxFacts> {
  return { survey, uplink: survey.bubblewrap.works ? await findUplink(env) : undefined, isRoot: isRoot() };
}

/** Finds what connects a sandbox to the network. Without it, `network = "full"` is the machine's own network. */
async function findUplink(env: Environment): Promise<Usable> {
  const { uplink } = await probeNetwork(withSystemFolders(env));
  if (uplink === null) return { works: true };
  return { works: false, reason: `network = "full" is the network of this machine: ${uplink}`, fix: UPLINK_FIX };
}

const UPLINK_FIX = 'Install passt or slirp4netns, and iproute2; let your user open /dev/net/tun.';
