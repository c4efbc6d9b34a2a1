import { basename, join } from 'node:path';
import type { Environment } from '../protocol/environment.ts';
import type { AgentPlan } from '../protocol/run-plan.ts';
import { quoteForShell } from '../protocol/text/quote-for-shell.ts';
import { agentFiles, type LaunchFile } from '../supervisor/contract.ts';
import type { Programs } from '../supervisor/programs.ts';
import type { Adapter, AgentContext, PreparedAgent, UserSetup } from './adapter.ts';
import { ACP_ADAPTERS } from './acp/adapter.ts';
import { builtinAdapter } from './builtin/adapter.ts';
import { claudeAdapter } from './claude.ts';
import { codexAdapter } from './codex.ts';
import { geminiAdapter } from './gemini.ts';
import { scriptedAdapter } from './scripted/adapter.ts';

/**
 * Any program. It gets messages on standard input and the prompt also in a file, and reports through the CLI, MCP or
 * its output.
 */
const commandAdapter: Adapter = {
  runs: (run) => !run.startsWith('builtin:'),
  prepare: ({ run }, { prompt, start }, { folder }) => {
    const promptFile = join(folder, `prompt-${start}.md`);
    const own = join(folder, 'own');
    return {
      ok: true,
      launch: {
        argv: ['/bin/sh', '-c', run],
        env: {
          BATON_START: String(start),
          BATON_AGENT_DIR: own,
          ...(prompt === null ? {} : { BATON_PROMPT_FILE: promptFile }),
        },
        output: 'text',
        input: 'text',
        prompt,
        finds_exit_signals: true,
        files: prompt === null ? [] : [{ path: promptFile, content: prompt }],
        writes: [own],
      },
    };
  },
};

/** The first adapter that accepts a `run` takes it. Any other text is a shell command. */
const ADAPTERS: readonly Adapter[] = [
  scriptedAdapter,
  claudeAdapter,
  codexAdapter,
  geminiAdapter,
  ...ACP_ADAPTERS,
  builtinAdapter,
  commandAdapter,
];

export function findAdapter(run: string): Adapter | undefined {
  return ADAPTERS.find(({ runs }) => runs(run));
}

export function prepareAgent(plan: AgentPlan, context: AgentContext): PreparedAgent {
  const adapter = findAdapter(plan.run);
  if (adapter === undefined) return { ok: false, reason: `there is no agent \`${plan.run}\`` };
  const files = agentFiles(context.stateDir, context.agentId);
  const prepare = context.isAttached === true ? adapter.attach : adapter.prepare;
  if (prepare === undefined) return { ok: false, reason: `\`${plan.run}\` has no interactive mode` };
  if (adapter.needsPrompt === true && context.isAttached !== true && !context.prompt?.trim())
    return { ok: false, reason: `the agent ${plan.name} has no prompt: set its \`prompt\` or \`prompt_file\`` };
  const prepared = prepare(plan, context, files);
  if (!prepared.ok) return prepared;
  const { launch } = prepared;
  return {
    ok: true,
    launch: {
      ...launch,
      env: { ...plan.env, ...launch.env },
      files: [...launch.files, batonShim(files.bin, context.programs)],
    },
  };
}

/** Variables passed only to this client. A shell command gets the variables of the client that its first word names. */
export function clientVariables(
  { run }: Pick<AgentPlan, 'run'>,
  env: Environment,
  user: UserSetup | undefined,
): readonly string[] {
  const program = basename(run.trim().split(/\s/, 1)[0] ?? '');
  const adapter = findAdapter(run);
  const client =
    adapter === commandAdapter ? ADAPTERS.find((each) => each !== commandAdapter && each.runs(program)) : adapter;
  return client?.variables?.(env, user) ?? [];
}

export function hasReliableStopFlag({ run }: Pick<AgentPlan, 'run'>): boolean {
  return findAdapter(run)?.hasUnreliableStopFlag !== true;
}

/** Whether a person can take over the conversation in the client's interactive mode. */
export function isInteractive({ run }: Pick<AgentPlan, 'run'>): boolean {
  return findAdapter(run)?.attach !== undefined;
}

/**
 * Runs the `baton` that started the agent. Its compile cache is in the state folder, not in one that all users share.
 */
export function batonShim(bin: string, { baton }: Pick<Programs, 'baton'>): LaunchFile {
  const cache = 'export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$BATON_STATE_DIR/cache}"';
  const content = `#!/bin/sh\n${cache}\nexec ${quoteForShell(process.execPath)} ${quoteForShell(baton)} "$@"\n`;
  return { path: join(bin, 'baton'), content, mode: 0o755 };
}
