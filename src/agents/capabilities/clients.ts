import { acpCommandOf } from '../../protocol/run-plan.ts';
import { PRESETS } from '../acp/presets.ts';
import type { Adapter } from '../adapter.ts';
import { claudeAdapter } from '../claude.ts';
import { codexAdapter } from '../codex.ts';
import { geminiAdapter } from '../gemini.ts';
import { scriptedAdapter } from '../scripted/adapter.ts';
import { ANY_ACP_PROFILE, profileOfPreset } from './acp.ts';
import { CLAUDE_PROFILE } from './built-in.ts';
import type { AdapterProfile, ClientProfile } from './capabilities.ts';

/** A client, with the value of `run` that starts it. */
export interface Client extends ClientProfile {
  readonly run: string;
}

/** Lists every client that Baton knows: first those with their own adapters, at the end any program. */
export function listClients(): readonly Client[] {
  return CLIENTS;
}

/** Returns the client that `run` starts; undefined for a built-in role, which has no conversation. */
export function findClient(run: string): Client | undefined {
  if (run.startsWith('builtin:')) return undefined;
  const isScripted = scriptedAdapter.runs(run);
  const name = isScripted ? SCRIPTED : acpCommandOf(run) !== undefined ? ANY_ACP : run;
  return CLIENTS.find((client) => client.run === name) ?? ANY_COMMAND;
}

const SCRIPTED = 'scripted FILE';
const ANY_ACP = 'acp:COMMAND';

/** Whether the calls of this client can be matched with its output. */
export function canMatchCalls(run: string): boolean {
  return findClient(run)?.capabilities.verdict === 'matched';
}

/** Behaves like Claude Code, but does not ask for permissions itself. */
const SCRIPTED_PROFILE: AdapterProfile = {
  title: 'scripted agent',
  program: null,
  package: null,
  tested: [],
  capabilities: {
    ...CLAUDE_PROFILE.capabilities,
    hooks: CLAUDE_PROFILE.capabilities.hooks.filter((name) => name !== 'PermissionRequest'),
    limits: 'named',
    login: 'none',
  },
};

const ANY_COMMAND: Client = {
  run: 'COMMAND',
  title: 'any command',
  program: null,
  package: null,
  tested: [],
  capabilities: {
    gate: 'none',
    hooks: [],
    message: 'stdin',
    resume: 'process',
    attach: 'lines',
    permissions: 'own',
    usage: 'none',
    budget: 'end',
    cost: 'none',
    errors: 'none',
    limits: 'none',
    mcp: 'address',
    verdict: 'unreported',
    sandbox: 'inside',
    shell: 'shared',
    login: 'its own',
  },
};

const CLIENTS: readonly Client[] = [
  ...adapted('claude', claudeAdapter),
  ...adapted('codex', codexAdapter),
  ...adapted('gemini', geminiAdapter),
  ...Object.entries(PRESETS).map(([run, preset]) => ({ run, ...profileOfPreset(preset) })),
  { run: ANY_ACP, ...ANY_ACP_PROFILE },
  ...adapted(SCRIPTED, { ...scriptedAdapter, profile: SCRIPTED_PROFILE }),
  ANY_COMMAND,
];

function adapted(run: string, { profile, attach }: Adapter): readonly Client[] {
  if (profile === undefined) return [];
  const answer = attach === undefined ? 'lines' : 'terminal';
  return [{ run, ...profile, capabilities: { ...profile.capabilities, attach: answer } }];
}
