import type { AcpPreset } from '../acp/preset.ts';
import type { Answers, ClientProfile } from './capabilities.ts';

/** What all ACP agents have in common, because the driver decides it, not the agent. */
const DRIVEN = {
  gate: 'prompt',
  hooks: [],
  message: 'next-stop',
  attach: 'lines',
  verdict: 'unnamed',
  shell: 'shared',
} as const;

/** Builds the profile of a preset from the facts that the driver uses. */
export function profileOfPreset(preset: AcpPreset): ClientProfile {
  const { about, argv, env = {}, mcp, errors, tested } = preset;
  return {
    title: about,
    program: argv[0] ?? null,
    package: preset.package,
    tested,
    env,
    capabilities: {
      ...DRIVEN,
      resume: preset.resumes ? 'conversation' : 'new-conversation',
      permissions: preset.neverAsks === true ? 'none' : 'allowed-or-asked',
      usage: preset.usage === 'message' ? 'request' : preset.usage,
      budget: preset.usage === 'message' && preset.neverAsks !== true ? 'held' : BUDGETS[preset.usage],
      cost: preset.cost ? 'reported' : preset.usage === 'none' ? 'none' : 'price-list',
      errors,
      limits: preset.namesWaits === true ? 'named' : 'none',
      mcp: preset.searchesTools === true ? 'search' : mcp,
      sandbox: preset.turnsSandboxOff === true ? 'own-off' : 'inside',
      login: loginOf(preset),
    },
  };
}

/**
 * `acp:COMMAND`: most answers are known only when the agent runs. Its permission requests go to a person, because the
 * agent is untested.
 */
export const ANY_ACP_PROFILE: ClientProfile = {
  title: 'any ACP agent',
  program: null,
  package: null,
  tested: [],
  capabilities: {
    ...DRIVEN,
    resume: 'offered',
    permissions: 'asked',
    usage: 'offered',
    budget: 'offered',
    cost: 'offered',
    errors: 'partly',
    limits: 'named',
    mcp: 'offered',
    sandbox: 'inside',
    login: 'its own',
  },
};

const BUDGETS = {
  message: 'request',
  turn: 'turn',
  conversation: 'turn',
  'last-request': 'turn',
  none: 'time',
} as const satisfies Readonly<Record<AcpPreset['usage'], Answers['budget']>>;

function loginOf({ home: { credentials }, authenticate }: AcpPreset): string {
  const variable = authenticate === undefined ? [] : [`\`${authenticate.variable}\``];
  return [...variable, ...credentials.map((path) => `\`~/${path}\``)].join(', ');
}
