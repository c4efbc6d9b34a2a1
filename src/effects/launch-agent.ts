import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { prepareAgent } from '../agents/prepare-agent.ts';
import { renderTemplate, type TemplateContext } from '../protocol/render-template.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { agentFiles, type Launch } from '../supervisor/contract.ts';
import type { Programs } from '../supervisor/programs.ts';
import { within } from './workplace.ts';
import type { World } from './world.ts';

/** An agent that is to be started, with everything about it that is durable. */
export interface StartedAgent {
  readonly run: AgentRun;
  readonly start: number;
  readonly context: TemplateContext;
  readonly workplace: string;
  readonly owes: readonly string[];
}

export type Launchable =
  | { readonly ok: true; readonly launch: Launch }
  | { readonly ok: false; readonly reason: string };

/** What a supervisor is told to run: the plan with its texts filled in, the client's own ways, and the run's tokens. */
export function launchAgent(started: StartedAgent, world: World, programs: Programs): Launchable {
  const { run, start, workplace } = started;
  const { stateDir, times } = world;
  const files = agentFiles(stateDir, run.id);
  const conversation = start === 1 ? null : readConversation(files.conversation);
  const filled = fillIn(started, conversation !== null, world.path);
  if (!filled.ok) return filled;
  const cwd = within(workplace, filled.cwd);
  const prepared = prepareAgent(
    { ...run.plan, env: filled.env },
    {
      agentId: run.id,
      start,
      prompt: filled.prompt,
      isResume: start > 1,
      conversation,
      stateDir,
      cwd,
      projectDir: world.path,
      programs,
    },
  );
  if (!prepared.ok) return prepared;
  const launch: Launch = {
    ...prepared.launch,
    v: 1,
    kind: 'agent',
    id: run.id,
    start,
    cwd,
    env: { BATON_SESSION: run.task?.session_id ?? run.id, ...prepared.launch.env },
    timeout_ms: run.plan.timeout_ms ?? null,
    kill_after_ms: times.killAfterMs,
    idle_ms: times.idleMs,
    renew_ms: run.task === null ? null : times.renewalMs,
    log_bytes: times.logBytes,
    finds_exit_signals: prepared.launch.finds_exit_signals && run.task !== null && world.usesExitSignals(),
    token: world.supervisorToken(run.id),
    agent_token: world.agentToken(run),
    owes: started.owes,
    state_dir: stateDir,
  };
  return { ok: true, launch };
}

interface Filled {
  readonly ok: true;
  readonly prompt: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** The texts of a plan with their values. What a person, or a handler, says to an agent is said as it is. */
function fillIn({ run, context }: StartedAgent, hasConversation: boolean, path: string): Filled | Refused {
  const { env = {}, cwd } = run.plan;
  const prompt = readPrompt(run, path);
  if (!prompt.ok) return prompt;
  const texts = new Map<string, string>();
  for (const [name, template] of [...Object.entries(env), [CWD, cwd], [PROMPT, prompt.text]] as const) {
    const rendered = renderTemplate(template ?? '', context, { quote: 'none' });
    if (!rendered.ok) return { ok: false, reason: rendered.problems.map((each) => each.message).join('; ') };
    if (template !== undefined) texts.set(name, rendered.value);
  }
  return {
    ok: true,
    prompt: tell(run, texts.get(PROMPT) ?? null, hasConversation),
    env: Object.fromEntries(Object.keys(env).map((name) => [name, texts.get(name) ?? ''])),
    cwd: texts.get(CWD),
  };
}

/** Names that no variable of an environment has. */
const CWD = '=cwd';
const PROMPT = '=prompt';

/** What the process is told first. Where there is a conversation to go on with, the prompt has been said in it. */
function tell({ resume }: AgentRun, prompt: string | null, hasConversation: boolean): string | null {
  if (resume === null) return prompt;
  if (resume.message === null) return hasConversation ? null : prompt;
  return resume.append && prompt !== null ? `${prompt}\n\n${resume.message}` : resume.message;
}

interface Refused {
  readonly ok: false;
  readonly reason: string;
}

function readPrompt(
  { plan }: AgentRun,
  path: string,
): { readonly ok: true; readonly text: string | undefined } | Refused {
  if (plan.prompt_file === undefined) return { ok: true, text: plan.prompt };
  try {
    return { ok: true, text: readFileSync(resolve(path, plan.prompt_file), 'utf8') };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, reason: `its prompt cannot be read: ${why}` };
  }
}

function readConversation(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    return null;
  }
}
