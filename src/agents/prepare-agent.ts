import { basename, join } from 'node:path';
import type { Environment } from '../protocol/environment.ts';
import type { AgentPlan } from '../protocol/run-plan.ts';
import { quoteForShell } from '../protocol/text/quote-for-shell.ts';
import { agentFiles, type LaunchFile } from '../supervisor/contract.ts';
import type { Programs } from '../supervisor/programs.ts';
import type { Adapter, AgentContext, PreparedAgent, UserSetup } from './adapter.ts';
import { builtinAdapter } from './builtin/adapter.ts';
import { claudeAdapter } from './claude.ts';
import { codexAdapter } from './codex.ts';
import { geminiAdapter } from './gemini.ts';
import { scriptedAdapter } from './scripted/adapter.ts';

/**
 * Any program. It gets what it is told on standard input, where later messages follow, and in a file for those that want it whole;
 * it speaks through the CLI, MCP or its standard output.
 */
export const commandAdapter: Adapter = {
  runs: (run) => !run.startsWith('builtin:'),
  prepare: ({ run }, { prompt, start }, { folder }) => {
    const promptFile = join(folder, `prompt-${start}.md`);
    return {
      ok: true,
      launch: {
        argv: ['/bin/sh', '-c', run],
        env: { BATON_START: String(start), ...(prompt === null ? {} : { BATON_PROMPT_FILE: promptFile }) },
        output: 'text',
        input: 'text',
        prompt,
        finds_exit_signals: true,
        files: prompt === null ? [] : [{ path: promptFile, content: prompt }],
      },
    };
  },
};

/** Every kind of client; the first that knows a `run` takes it, and any other text is a command for the shell. */
const ADAPTERS: readonly Adapter[] = [
  scriptedAdapter,
  claudeAdapter,
  codexAdapter,
  geminiAdapter,
  builtinAdapter,
  commandAdapter,
];

/** How an agent is started: its command line, how it is spoken to, and the files that must lie there before. */
export function prepareAgent(plan: AgentPlan, context: AgentContext): PreparedAgent {
  const adapter = ADAPTERS.find(({ runs }) => runs(plan.run));
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

/**
 * The variables that pass to this client because it is the client: those of its model's API. A command for the shell gets those of the
 * client that its first word names.
 */
export function clientVariables(
  { run }: Pick<AgentPlan, 'run'>,
  env: Environment,
  user: UserSetup | undefined,
): readonly string[] {
  const program = basename(run.trim().split(/\s/, 1)[0] ?? '');
  const adapter = ADAPTERS.find(({ runs }) => runs(run));
  const client =
    adapter === commandAdapter ? ADAPTERS.find((each) => each !== commandAdapter && each.runs(program)) : adapter;
  return client?.variables?.(env, user) ?? [];
}

/** Whether the client's `stop_hook_active` can be relied on. */
export function hasReliableStopFlag({ run }: Pick<AgentPlan, 'run'>): boolean {
  return ADAPTERS.find(({ runs }) => runs(run))?.hasUnreliableStopFlag !== true;
}

/** Whether a person can take the conversation over, in the client's own interactive mode. */
export function isInteractive({ run }: Pick<AgentPlan, 'run'>): boolean {
  return ADAPTERS.find(({ runs }) => runs(run))?.attach !== undefined;
}

/**
 * `baton` for a PATH: the one that started the agent, whatever else is installed. Shell steps get it too. What Node compiles for it is kept
 * in our own folder, as for the daemon, and not in one that all users of the machine share.
 */
export function batonShim(bin: string, { baton }: Pick<Programs, 'baton'>): LaunchFile {
  const cache = 'export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$BATON_STATE_DIR/cache}"';
  const content = `#!/bin/sh\n${cache}\nexec ${quoteForShell(process.execPath)} ${quoteForShell(baton)} "$@"\n`;
  return { path: join(bin, 'baton'), content, mode: 0o755 };
}
