import type { Environment } from '../protocol/environment.ts';
import type { SandboxKind } from '../protocol/sandbox.ts';
import type { Usable } from './probe.ts';
import { type SandboxSurvey, surveySandboxes } from './survey.ts';
import { probeNetwork } from './network/namespace/probe-network.ts';
import { isRoot } from './user/agent-user.ts';
import { setUpAgentUser } from './user/set-up-agent-user.ts';

/** One thing that `baton doctor` has looked at. */
export interface Finding {
  /** A sandbox mode, or what it needs. */
  readonly name: string;
  readonly ok: boolean;
  /** Nothing stops working without it: a warning, not a problem. */
  readonly isMinor: boolean;
  readonly detail: string;
  /** What a person can do; null if there is nothing to do. */
  readonly fix: string | null;
}

/** A finding that `baton doctor --fix` can correct. `repair` returns what it did. */
export interface Diagnosis extends Finding {
  readonly repair?: () => Promise<string>;
}

/** Which sandboxes work on this machine, and what is missing for the others. */
export async function diagnoseSandbox(env: Environment, operator: string): Promise<readonly Diagnosis[]> {
  const survey = await surveySandboxes(env, true);
  const uplink = survey.bubblewrap.works ? await findUplink(env) : undefined;
  return diagnoseSurvey(survey, uplink, isRoot() ? { setUp: async () => setUp(operator) } : {});
}

/** Without one, `network = "full"` is the network of the machine. */
async function findUplink(env: Environment): Promise<Usable> {
  const { uplink } = await probeNetwork(env);
  if (uplink === null) return { works: true };
  return { works: false, reason: `network = "full" is the network of this machine: ${uplink}`, fix: UPLINK_FIX };
}

const UPLINK_FIX = 'Install passt or slirp4netns, and iproute2; let your user open /dev/net/tun.';

async function setUp(operator: string): Promise<string> {
  const done = setUpAgentUser({ operator });
  const steps = done.steps.join('; ') || 'everything was there';
  return done.ok ? `user: ${steps}` : `user: ${steps}; then failed: ${done.reason}`;
}

/** The first finding says what `auto` means here. `uplink`: what connects a network namespace; undefined without one. */
export function diagnoseSurvey(
  survey: SandboxSurvey,
  uplink: Usable | undefined,
  { setUp: repair }: { readonly setUp?: () => Promise<string> } = {},
): readonly Diagnosis[] {
  const { bubblewrap, container, user } = survey;
  const exec = survey['sandbox-exec'];
  const chosen = (['bubblewrap', 'container', 'user'] as const).find((kind) => survey[kind].works);
  return [
    {
      name: 'auto',
      ok: chosen !== undefined,
      isMinor: true,
      detail:
        chosen === undefined
          ? 'sandbox = "auto": no sandbox works here, and sessions run as your user'
          : `sandbox = "auto" is ${chosen} here${chosen === 'container' ? ' if the project names an image' : ''}`,
      fix: null,
    },
    describe('bubblewrap', bubblewrap, ({ path, version }) => `bubblewrap ${version}, ${path}`),
    ...(uplink === undefined ? [] : [describe('network', uplink, () => 'network = "full" has a namespace of its own')]),
    describe('container', container, ({ engine }) => `${engine.name}${engine.isRootless ? ', rootless' : ''}`),
    {
      ...describe('user', user, (found) => `agents can run as ${found.user.name}`),
      ...(user.works || repair === undefined ? {} : { repair }),
    },
    ...(exec.works ? [describe('sandbox-exec', exec, () => 'sandbox = "sandbox-exec" uses it')] : []),
  ];
}

function describe<T>(name: SandboxKind | 'network', answer: Usable<T>, render: (found: T) => string): Finding {
  return answer.works
    ? { name, ok: true, isMinor: true, detail: render(answer), fix: null }
    : { name, ok: false, isMinor: true, detail: answer.reason, fix: answer.fix };
}
