import {
  NETWORK_POLICIES,
  type NetworkPlan,
  type NetworkPolicy,
  SANDBOX_MODES,
  type SandboxPlan,
} from '../../protocol/sandbox.ts';
import type { EitherShape, ListShape, MapShape, ObjectShape, TextShape, ValueOf } from '../../protocol/shape/shape.ts';
import { flagField, optional } from './fields.ts';

/** The shapes of what a session can access: its sandbox, its network, and the secrets that are injected for it. */

const modes = { kind: 'choice', values: SANDBOX_MODES, about: `One of: ${SANDBOX_MODES.join(', ')}.` } as const;

const paths = {
  kind: 'list',
  max: 100,
  of: {
    kind: 'text',
    notEmpty: true,
    pattern: '^(?:~/|[^\\u0000-\\u001f\\u007f-\\u009f~])[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    expected: 'an absolute path, one that begins with ~/, or one below the project',
  },
} as const satisfies ListShape;

const size = {
  kind: 'text',
  pattern: '^[1-9][0-9]{0,5}(MB|GB|TB)$',
  expected: 'a size such as 512MB, 8GB or 1TB',
} as const satisfies TextShape;

const sandboxTable = {
  kind: 'object',
  fields: {
    mode: optional(modes, modes.about),
    read: optional(paths, 'Paths that a session may read in addition to the table in docs/security.md.'),
    write: optional(paths, 'Paths that a session may write in addition to its worktree.'),
    hide: optional(paths, 'Paths that a session cannot see.'),
    nested: optional(flagField, "Allows user namespaces inside, which clients' own sandboxes need; default: false."),
    image: {
      kind: 'text',
      optional: true,
      pattern: '^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$',
      expected: 'the name of a container image',
      about: "The image of a container; default: that of the repository's devcontainer.",
    },
    processes: optional(
      { kind: 'number', whole: true, min: 32, max: 1_000_000 },
      'How many processes and threads a session may have; default: 1024.',
    ),
    memory: optional(size, 'How much memory a session may use; default: 8GB.'),
    disk: optional(size, 'How much a session may write to the disk; default: 20GB.'),
  },
} as const satisfies ObjectShape;

/** Accepts `sandbox = "bubblewrap"` and `sandbox = { mode = "bubblewrap", … }`. */
export const sandboxField = {
  kind: 'either',
  optional: true,
  expected: `${SANDBOX_MODES.map((mode) => `"${mode}"`).join(', ')}, or a table with such a mode`,
  about: `The sandbox of its sessions: ${SANDBOX_MODES.join(', ')}; or a table. Default: auto.`,
  options: [modes, sandboxTable],
} as const satisfies EitherShape;

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';

/** Hosts, with or without a port. In a person's own configuration they may be ports of this machine. */
export const hostsField = {
  kind: 'list',
  max: 200,
  of: {
    kind: 'text',
    pattern: `^(?:(?:\\*\\.)?${LABEL}(?:\\.${LABEL}){0,20}|\\[[0-9A-Fa-f:.]{2,45}\\])(?::[1-9][0-9]{0,4})?$`,
    expected: 'a host such as example.com, *.example.com, example.com:8443 or 192.0.2.7:443, without scheme and path',
  },
} as const satisfies ListShape;

function policyOf<const V extends readonly string[]>(values: V, about: string) {
  return {
    kind: 'either',
    optional: true,
    expected: `${values.map((value) => `"${value}"`).join(', ')}, or a list of hosts`,
    about,
    options: [{ kind: 'choice', values, about }, hostsField],
  } as const satisfies EitherShape;
}

const AGENT_POLICY = policyOf(
  NETWORK_POLICIES,
  'The hosts that sessions can reach: full, dev (APIs, registries, git remotes), model (the API of the client), none, or a list.',
);

const COMMAND_POLICIES = ['full', 'dev', 'none'] as const;

/** The network of a check, without the policy `model`, because a check runs no model. */
export const checkNetworkField = policyOf(
  COMMAND_POLICIES,
  'The hosts that the check can reach: full, dev, none, or a list.',
);

const networkTable = {
  policy: AGENT_POLICY,
  hosts: { ...hostsField, optional: true, about: 'More hosts that sessions can reach, with the policy dev or model.' },
  local: {
    kind: 'list',
    optional: true,
    max: 50,
    of: { kind: 'number', whole: true, min: 1, max: 65_535 },
    about: 'Ports of this machine that sessions can reach at 127.0.0.1, as in [5432].',
  },
} as const;

function networkOption<const F extends ObjectShape['fields']>(fields: F) {
  return {
    kind: 'either',
    optional: true,
    expected: `${NETWORK_POLICIES.map((value) => `"${value}"`).join(', ')}, a list of hosts, or a table with such a policy`,
    about: 'The network of sessions: full, dev, model, none, a list of hosts, or a table. Default: dev.',
    options: [...AGENT_POLICY.options, { kind: 'object', fields }],
  } as const satisfies EitherShape;
}

export const networkField = networkOption(networkTable);

export const projectNetworkField = networkOption({
  ...networkTable,
  install: policyOf(
    COMMAND_POLICIES,
    'For `workflow.install` and `workspace.setup`: full, dev (default), none, or hosts.',
  ),
  checks: policyOf(COMMAND_POLICIES, 'For checks, gates, `workflow.build`, `smoke` and `validate`; default: none.'),
});

export const secretsField = {
  kind: 'map',
  optional: true,
  max: 20,
  names: { pattern: '^[A-Z_][A-Z0-9_]{0,63}$', expected: 'the name of a variable, as in ANTHROPIC_API_KEY' },
  about: 'Keys that agents use without having them: Baton adds them to the requests of the client.',
  of: {
    kind: 'object',
    about: 'As in { env = "MY_KEY", inject = "header" }.',
    fields: {
      env: {
        kind: 'text',
        pattern: '^(?!BATON_)[A-Za-z_][A-Za-z0-9_]{0,127}$',
        expected: 'the name of a variable, not beginning with BATON_',
        about: 'The variable of the daemon that has the key.',
      },
      inject: { kind: 'choice', values: ['header'], about: 'How Baton adds the key: header.' },
      paths: {
        kind: 'list',
        optional: true,
        max: 50,
        of: {
          kind: 'text',
          pattern: '^(?:GET|HEAD|POST|PUT|PATCH|DELETE) /[A-Za-z0-9._~:@*/-]{0,200}$',
          expected: 'a method and a path below the base URL, as in "POST /v1/files"; * stands for one segment',
        },
        about: 'More paths that the key may be used for. Inference, token counts and lists of models are included.',
      },
    },
  },
} as const satisfies MapShape;

export type SandboxValue = ValueOf<typeof sandboxField>;
export type NetworkValue = ValueOf<typeof networkField>;
type ProjectNetworkValue = ValueOf<typeof projectNetworkField>;

export function buildSandbox(value: SandboxValue): SandboxPlan {
  if (typeof value === 'string') return { mode: value };
  const { memory, disk, ...rest } = value;
  return {
    ...rest,
    ...(memory === undefined ? {} : { memory_bytes: parseSize(memory) }),
    ...(disk === undefined ? {} : { disk_bytes: parseSize(disk) }),
  };
}

/** The network of the project's commands, and the defaults of its agents. */
export interface ProjectNetwork extends NetworkPlan {
  readonly install?: CheckNetwork;
  readonly checks?: CheckNetwork;
  /** The default of rules that were adopted before there was `dev`. */
  readonly fallback?: 'full';
}

export type CheckNetwork = Exclude<NetworkPolicy, 'model'>;

export function buildNetwork(value: ProjectNetworkValue): ProjectNetwork {
  return isPolicy(value) ? { policy: value } : value;
}

/** Reports whether the value is the short form, which is the policy alone. */
export function isPolicy(value: ProjectNetworkValue): value is NetworkPolicy {
  return typeof value === 'string' || Array.isArray(value);
}

const UNIT_BYTES: Readonly<Record<string, number>> = { MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

/** Bytes of a checked size. */
function parseSize(text: string): number {
  const [, amount, unit = ''] = /^([0-9]+)([MGT]B)$/.exec(text) ?? [];
  return Number(amount) * (UNIT_BYTES[unit] ?? Number.NaN);
}
