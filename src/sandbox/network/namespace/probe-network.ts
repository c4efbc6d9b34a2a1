import { once } from 'node:events';
import type { Environment } from '../../../protocol/environment.ts';
import { createNamespace, type Namespace } from './create-namespace.ts';
import { collectText, firstLine, hasProgram, refuseTunDevice, startTool } from './tools.ts';
import { attachUplink, refuseUplink, UPLINKS } from './uplink.ts';

const TOOLS = ['bwrap', 'nsenter', 'ip', 'slirp4netns', 'pasta'] as const;
type NetworkTool = (typeof TOOLS)[number];

/** Why something does not work here; null if it works. */
type Lack = string | null;

export interface NetworkFacts {
  readonly tools: Readonly<Record<NetworkTool, Lack>>;
  /** A separate network, for the policies `none`, `model` and host lists. */
  readonly namespaces: Lack;
  /** A separate network that is connected to the world, for the policy `full`. */
  readonly uplink: Lack;
}

let known: Promise<NetworkFacts> | undefined;

/** Tests the network once per process, because an installed program may still lack a permission. */
export async function probeNetwork(env: Environment): Promise<NetworkFacts> {
  known ??= probe(env);
  return known;
}

async function probe(env: Environment): Promise<NetworkFacts> {
  const lacks = Object.fromEntries(
    TOOLS.map((name) => [name, hasProgram(name, env) ? null : `${name} is not installed`]),
  );
  const tools = { bwrap: null, nsenter: null, ip: null, slirp4netns: null, pasta: null, ...lacks };
  const created = await createNamespace({ env, ports: [], helper: '', owner: [] });
  if (!created.ok) {
    const reason = tools.bwrap ?? created.reason;
    return { tools: { ...tools, bwrap: reason }, namespaces: reason, uplink: reason };
  }
  const { namespace } = created;
  const nsenter = tools.nsenter ?? (await tryToEnter(namespace, env));
  const slirp4netns = nsenter ?? tools.slirp4netns ?? (await tryUplink('slirp4netns', namespace, env));
  const pasta = nsenter ?? tools.pasta ?? (await tryUplink('pasta', namespace, env));
  namespace.close();
  const isConnected = slirp4netns === null || pasta === null;
  const uplink = nsenter ?? refuseUplink(env)?.reason ?? (isConnected ? null : (slirp4netns ?? pasta));
  return { tools: { ...tools, nsenter, slirp4netns, pasta }, namespaces: nsenter, uplink };
}

async function tryToEnter({ enter }: Namespace, env: Environment): Promise<Lack> {
  const child = startTool([...enter, 'true'], env, ['ignore', 'ignore', 'pipe']);
  const errors = collectText(child.stderr);
  const [code] = await once(child, 'close');
  return code === 0 ? null : firstLine(errors.text);
}

async function tryUplink(program: 'slirp4netns' | 'pasta', namespace: Namespace, env: Environment): Promise<Lack> {
  const refused = refuseTunDevice();
  if (refused !== undefined) return refused;
  const kinds = UPLINKS.filter((kind) => kind.program === program);
  const attached = await attachUplink(namespace, env, () => {}, kinds);
  if (!attached.ok) return attached.reason;
  await attached.uplink.close();
  return null;
}
