import { join } from 'node:path';
import type { Environment } from '../../protocol/environment.ts';
import { acpCommandOf, type AgentPlan } from '../../protocol/run-plan.ts';
import type { Adapter, AgentContext, ClientFiles } from '../adapter.ts';
import { HOLD_MS } from '../client-hooks.ts';
import type { DriverSettings } from './driver/settings.ts';
import type { AcpPreset } from './preset.ts';
import { PRESETS } from './presets.ts';

/**
 * Any agent that speaks the Agent Client Protocol: a preset, or `acp:COMMAND`. Baton's driver starts the agent and acts
 * as its client. A process ends after an allowed stop; a later message resumes the session in a new process.
 */
export const ACP_ADAPTERS: readonly Adapter[] = [
  ...Object.entries(PRESETS).map(([name, preset]): Adapter => ({
    ...adapterFor(preset),
    runs: (run) => run === name,
    variables: (_, user) => [...preset.variables, ...(user?.variables ?? [])],
    clientFiles: (env) => clientFilesOf(preset, env),
    ...(preset.providersFile === undefined
      ? {}
      : {
          settingsFolder: (env) => inHome(env, preset.providersFile?.folder ?? ''),
          providersFile: preset.providersFile,
        }),
  })),
  { ...adapterFor(undefined), runs: (run) => acpCommandOf(run) !== undefined },
];

function adapterFor(preset: AcpPreset | undefined): Omit<Adapter, 'runs'> {
  return {
    needsPrompt: true,
    // The driver does not report the flag, so the supervisor counts blocks itself.
    hasUnreliableStopFlag: true,
    prepare: (plan, context, { folder, bin }) => {
      const path = join(folder, 'acp.json');
      const own = join(folder, 'own');
      const settings = settingsOf(plan, context, preset, join(bin, 'baton'));
      return {
        ok: true,
        launch: {
          argv: [process.execPath, context.programs.acpDriver, path],
          env: { ...preset?.env, ...settings.permissionSetting?.env, BATON_AGENT_DIR: own },
          output: 'acp',
          input: 'once',
          prompt: context.prompt,
          finds_exit_signals: true,
          hold_ms: HOLD_MS,
          files: [{ path, content: JSON.stringify(settings, null, 2) }],
          program: programOf(plan.run, preset),
          writes: [own],
        },
      };
    },
  };
}

function settingsOf(
  { run, model, acp = {} }: AgentPlan,
  { isResume, conversation }: AgentContext,
  preset: AcpPreset | undefined,
  baton: string,
): DriverSettings {
  // Baton knows nothing about an arbitrary command, so a person decides what it may do.
  const { permissions = preset === undefined ? 'ask' : 'allow' } = acp;
  return {
    v: 1,
    name: preset?.about ?? 'the agent',
    argv: commandOf(run, preset),
    permissions,
    ...(preset === undefined ? {} : { permissionSetting: preset.asking }),
    files: acp.files ?? true,
    terminals: acp.terminals ?? preset?.terminals ?? true,
    ...(acp.mode === undefined ? {} : { mode: acp.mode }),
    ...(model === undefined ? {} : { model }),
    ...(preset?.authenticate === undefined ? {} : { authenticate: preset.authenticate }),
    ...(preset?.clientMeta === undefined ? {} : { clientMeta: preset.clientMeta }),
    usage: preset?.usage ?? 'turn',
    ...(preset === undefined ? {} : { resumes: preset.resumes }),
    ...(isResume && conversation !== null ? { conversation } : {}),
    baton,
  };
}

function commandOf(run: string, preset: AcpPreset | undefined): DriverSettings['argv'] {
  const [program = '', ...args] = preset?.argv ?? [];
  return preset === undefined ? ['/bin/sh', '-c', acpCommandOf(run) ?? ''] : [program, ...args];
}

/**
 * The first word of a command, after variable assignments, is almost always the program. If it is not, the runbook
 * needs `sandbox.read`.
 */
function programOf(run: string, preset: AcpPreset | undefined): string {
  const words = acpCommandOf(run)?.split(/\s+/) ?? [];
  return preset?.argv[0] ?? words.find((word) => !/^\w+=/.test(word)) ?? '';
}

function clientFilesOf({ home: { credentials, settings } }: AcpPreset, env: Environment): ClientFiles {
  return {
    copied: [
      ...credentials.map((path) => ({ path: inHome(env, path), isCredential: true }) as const),
      ...settings.map((path) => ({ path: inHome(env, path) })),
    ],
    withoutOwnSandbox: {},
  };
}

function inHome(env: Environment, path: string): string {
  return join(env['HOME'] ?? '', path);
}
