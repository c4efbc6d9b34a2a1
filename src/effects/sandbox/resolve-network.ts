import { type Injection, type NetworkPolicy, type NetworkSpec, secretClientOf } from '../../protocol/sandbox.ts';
import type { NetworkSettings } from '../../runbook/access.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import { findAcpPresetName, MODEL_CLIENT_NAMES } from '../../protocol/run-plan.ts';
import { hostOfUrl, type ModelClient, modelHosts, QUIET_VARIABLES } from '../../sandbox/network/model-hosts.ts';
import { planInjection, SECRET_ROUTES } from '../../sandbox/network/plan-injection.ts';
import { REGISTRY_HOSTS } from '../../sandbox/network/registries.ts';
import { loopbackPorts } from '../../sandbox/network/proxy/host-rules.ts';
import type { EffectContext } from '../context.ts';
import { narrowPorts, narrowReach, type Reach } from './apply-floor.ts';

export interface NetworkUser {
  /** The client, as in a runbook's `run`; empty for a command. */
  readonly run: string;
  /** The daemon's environment, plus the variables of the client's settings. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** API addresses in the client's settings. */
  readonly urls?: readonly string[];
  /** The same without the variables of the runbook, which must not widen the floor. */
  readonly person?: { readonly env: NetworkUser['env']; readonly urls: readonly string[] };
  readonly port: number | null;
  /** The hosts of the git remotes, for `dev`. */
  readonly remotes?: readonly string[];
  /** Nobody has chosen the policy. */
  readonly isDefault?: boolean;
  /** The rules' secrets, with the paths that they add. */
  readonly secrets?: Runbook['secrets'];
  readonly context: Pick<EffectContext, 'secrets' | 'personal'>;
}

export interface ResolvedNetwork {
  readonly spec: NetworkSpec;
  /** Variables that keep the client from contacting hosts that it does not need. */
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** Replaces `dev` and `model` by their hosts, and the used secrets by addresses inside the sandbox. */
export function resolveNetwork({ policy, hosts: more, local }: NetworkSettings, user: NetworkUser): ResolvedNetwork {
  const { run, env, urls = [], port, secrets, context } = user;
  const { person = { env, urls }, remotes = [], isDefault = false } = user;
  const inject = planInjections(run, env, context, secrets);
  const [ofModel, ofPerson] = [hostsOf(run, env, urls), hostsOf(run, person.env, person.urls)];
  const { floor, path } = context.personal;
  const shared = [...REGISTRY_HOSTS, ...remotes, ...context.personal.network.hosts];
  const asked = reachOf(policy, { model: [...ofModel, ...more], shared });
  const { kind, hosts } = narrowReach(asked, reachOf(floor.network.policy, { model: ofPerson, shared }));
  const own = narrowPorts(local, floor.network);
  const isNarrowed = kind !== asked.kind || hosts.length < asked.hosts.length || own.length < local.length;
  const notes = [
    ...(policy === 'model' && hosts.length === 0 && inject.length === 0 ? [NO_MODEL] : []),
    ...(isNarrowed ? [`Your floor (floor.network in ${path}) narrows the network that the project asks for.`] : []),
  ];
  // An API on this machine, such as a gateway, is a port of the loopback address, for which clients use no proxy.
  const isFloored = floor.network.policy !== 'full' || floor.network.local !== undefined;
  const reached = kind !== 'full' ? hosts : isFloored ? ofPerson : ofModel;
  const ports = [...new Set([...own, ...(inject.length === 0 ? loopbackPorts(reached) : [])])];
  // Neither the log nor the budget needs the requests that the client can do without.
  const isWatched = kind === 'proxy' || inject.length > 0;
  const variables = isModelClient(run) && isWatched ? (QUIET_VARIABLES[run] ?? {}) : {};
  const named = kind === 'proxy' && !isNarrowed && (policy === 'dev' || policy === 'model') ? { name: policy } : {};
  const spec = { policy: kind, hosts, local: ports, port, inject, ...named, ...(isDefault && DEFAULT) };
  return { spec, variables, notes };
}

const DEFAULT = { isDefault: true } as const;

function hostsOf(run: string, env: NetworkUser['env'], urls: readonly string[]): readonly string[] {
  return isModelClient(run) ? [...modelHosts(run, env), ...urls.flatMap((url) => hostOfUrl(url) ?? [])] : [];
}

interface KnownHosts {
  readonly model: readonly string[];
  /** What `dev` allows to every program. */
  readonly shared: readonly string[];
}

function reachOf(policy: NetworkPolicy, { model, shared }: KnownHosts): Reach {
  if (policy === 'full' || policy === 'none') return { kind: policy, hosts: [] };
  if (policy === 'model') return { kind: 'proxy', hosts: model };
  return { kind: 'proxy', hosts: policy === 'dev' ? [...new Set([...model, ...shared])] : policy };
}

function planInjections(
  run: string,
  env: NetworkUser['env'],
  { secrets: values }: Pick<EffectContext, 'secrets'>,
  secrets?: Runbook['secrets'],
): readonly Injection[] {
  const used = Object.keys(values).filter((name) => SECRET_ROUTES[name]?.client === secretClientOf(run));
  return used.flatMap((name) => planInjection(name, env, secrets?.get(name)?.paths) ?? []);
}

/** The variables that the session gets for its secrets. */
export function injectedVariables(run: string, context: Pick<EffectContext, 'secrets'>): readonly string[] {
  return planInjections(run, {}, context).flatMap(({ env }) => Object.keys(env));
}

function isModelClient(run: string): run is ModelClient {
  return MODEL_CLIENT_NAMES.includes(run) || findAcpPresetName(run) !== undefined;
}

const NO_MODEL = 'The network policy is `model`, but Baton knows no model API for this program: it reaches no host.';
