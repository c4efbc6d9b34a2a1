import { UNSEPARATED, type Unseparated } from '../../protocol/handoff/judge.ts';
import { type NetworkPlan, SANDBOX_KINDS, type SandboxKind, type SandboxPlan } from '../../protocol/sandbox.ts';
import { checkShape } from '../../protocol/shape/check-shape.ts';
import type { ObjectShape, ValueOf } from '../../protocol/shape/shape.ts';
import { problemOf } from '../read/join-files.ts';
import { parseTree } from '../read/read-tree.ts';
import type { RunbookFile, RunbookProblem } from '../runbook.ts';
import {
  buildNetwork,
  buildSandbox,
  hostsField,
  networkField,
  type ProjectNetwork,
  projectNetworkField,
  sandboxField,
} from '../shape/access-shape.ts';
import { optional } from '../shape/fields.ts';

/** What a person sets for all projects on this machine. A repository can tighten it, but not loosen it. */
export interface Personal {
  readonly floor: {
    /** The weakest sandbox that sessions and commands may have. */
    readonly sandbox: SandboxKind;
    /** The widest network that they may have. */
    readonly network: NetworkPlan & Required<Pick<NetworkPlan, 'policy'>>;
  };
  /** What applies if a project does not set it. */
  readonly defaults: { readonly sandbox: SandboxPlan; readonly network: ProjectNetwork };
  /** Hosts that the policy `dev` allows in all projects, such as a company's registry. */
  readonly network: { readonly hosts: readonly string[] };
  /** Whether a person is asked about a verdict whose sender the client cannot prove. */
  readonly review: { readonly unseparated: Unseparated };
}

export const NO_PERSONAL: Personal = {
  floor: { sandbox: 'none', network: { policy: 'full' } },
  defaults: { sandbox: {}, network: {} },
  network: { hosts: [] },
  review: { unseparated: 'ask' },
};

const personalShape = {
  kind: 'object',
  fields: {
    floor: optional(
      {
        kind: 'object',
        fields: {
          sandbox: optional({ kind: 'choice', values: SANDBOX_KINDS }, 'The weakest sandbox that sessions may have.'),
          network: networkField,
        },
      },
      'What no project can loosen.',
    ),
    defaults: optional(
      { kind: 'object', fields: { sandbox: sandboxField, network: projectNetworkField } },
      'What applies if a project does not set it.',
    ),
    network: optional(
      { kind: 'object', fields: { hosts: { ...hostsField, optional: true, about: 'Hosts that `dev` allows.' } } },
      'What the network `dev` allows in all projects.',
    ),
    review: optional(
      {
        kind: 'object',
        fields: {
          unseparated: optional({ kind: 'choice', values: UNSEPARATED }, 'Verdicts whose sender is not proved.'),
        },
      },
      'How verdicts count.',
    ),
  },
} as const satisfies ObjectShape;

export type CheckedPersonal =
  | { readonly ok: true; readonly value: Personal }
  | { readonly ok: false; readonly problems: readonly [RunbookProblem, ...RunbookProblem[]] };

/** Checks the text of `config.toml`. */
export function parsePersonal(file: RunbookFile): CheckedPersonal {
  const tree = parseTree('TOML', file.text);
  if (!tree.ok) {
    const { code, what, at, hint } = tree.unreadable;
    return { ok: false, problems: [problemOf({ code, message: `invalid TOML: ${what}`, path: '', at, hint }, [file])] };
  }
  const { value, findings } = checkShape(personalShape, tree.node, 'Configuration');
  const [first, ...rest] = findings.map((finding) => problemOf(finding, [file]));
  if (first !== undefined) return { ok: false, problems: [first, ...rest] };
  // The shape has checked the value field by field; this is the only cast.
  return { ok: true, value: build(value as ValueOf<typeof personalShape>) }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function build({ floor, defaults, network: own, review }: ValueOf<typeof personalShape>): Personal {
  const network = floor?.network === undefined ? {} : buildNetwork(floor.network);
  return {
    floor: {
      sandbox: floor?.sandbox ?? NO_PERSONAL.floor.sandbox,
      network: { ...network, policy: network.policy ?? 'full' },
    },
    defaults: {
      sandbox: defaults?.sandbox === undefined ? {} : buildSandbox(defaults.sandbox),
      network: defaults?.network === undefined ? {} : buildNetwork(defaults.network),
    },
    network: { hosts: own?.hosts ?? [] },
    review: { unseparated: review?.unseparated ?? NO_PERSONAL.review.unseparated },
  };
}
