import { readFileSync } from 'node:fs';
import { gitShimFiles } from '../../agents/git-shim.ts';
import type { LaunchParts } from '../../agents/adapter.ts';
import { clientVariables, prepareAgent } from '../../agents/prepare-agent.ts';
import { readUserSetup } from '../../agents/user-setup.ts';
import { fenceEnvironment } from '../../git/fence/fence.ts';
import type { PrivateGitRequest } from '../../git/private/prepare.ts';
import { allowedEnvironment } from '../../protocol/environment.ts';
import type { Judge } from '../../protocol/handoff/judge.ts';
import { type AgentPlan, isModelClient } from '../../protocol/run-plan.ts';
import { renderTemplate, type TemplateContext } from '../../protocol/text/render-template.ts';
import { fileKey, type Texts } from '../../runbook/gates/rule-files.ts';
import { resolvePromptPath } from '../../runbook/library.ts';
import { isShellAgent, scriptOf } from '../../runbook/plan.ts';
import { renderFence } from '../../state/packet/render-packet.ts';
import { type AgentRun, isAttached } from '../../state/runs/agent-run.ts';
import { agentFiles, type Launch } from '../../supervisor/contract.ts';
import { type HeldMessage, readHeldMessages } from '../../supervisor/held-messages.ts';
import type { Programs } from '../../supervisor/programs.ts';
import type { EffectContext, SessionSettings } from '../context.ts';
import { resolveWithin } from '../sessions/workplace.ts';
import { fillMessage } from './messages.ts';

export interface StartedAgent {
  readonly run: AgentRun;
  readonly start: number;
  readonly templates: TemplateContext;
  readonly workplace: string;
  readonly env: Readonly<Record<string, string>>;
  readonly fenceHooks: string | null;
  /** The git author, as variables. The agent's own `env` overrides them. */
  readonly author: Readonly<Record<string, string>>;
  readonly owes: readonly string[];
  /** The session ends with an exit signal, which the supervisor also looks for in its output. */
  readonly usesExitSignals: boolean;
  /** The prompts and scripts that were adopted. */
  readonly prompts: Texts;
  /** Absent unless the session judges. */
  readonly judge?: Judge;
  /** Variables of the daemon that every process of the project gets. */
  readonly envPass: readonly string[];
  readonly access: SessionSettings['access'];
  /** Variables that Baton sets for the secrets that it injects. */
  readonly injected?: readonly string[];
  /** The task's branch, and the claim that may move it; without a task, the branch that is checked out. */
  readonly git: Pick<PrivateGitRequest, 'branch' | 'fence'>;
}

export interface LaunchMade extends Pick<LaunchParts, 'reads' | 'writes' | 'program' | 'commands'> {
  readonly ok: true;
  readonly launch: Launch;
}

export type LaunchResult = LaunchMade | { readonly ok: false; readonly reason: string };

/**
 * Builds the launch file for the supervisor: the plan with its templates expanded, the client's arguments, and the
 * tokens of the run.
 */
export function launchAgent(started: StartedAgent, context: EffectContext, programs: Programs): LaunchResult {
  const { run, start, workplace } = started;
  const { stateDir, times } = context;
  const files = agentFiles(stateDir, run.id);
  const conversation = start === 1 ? null : readConversation(files.conversation);
  const held = start === 1 ? [] : readHeldMessages(files.held);
  const filled = fillIn(started, { hasConversation: conversation !== null, held }, context);
  if (!filled.ok) return filled;
  const cwd = resolveWithin(workplace, filled.plan.cwd);
  const named = scriptOf(filled.plan.run);
  const script = named === undefined ? undefined : findText('script', named, started.prompts);
  if (script?.ok === false) return script;
  const user = readUserSetup(filled.plan.run, { ...context.env, ...filled.plan.env });
  const prepared = prepareAgent(filled.plan, {
    agentId: run.id,
    start,
    prompt: filled.prompt,
    isResume: start > 1,
    conversation,
    stateDir,
    cwd,
    programs,
    isAttached: isAttached(run),
    ...(user === undefined ? {} : { user }),
    injected: started.injected ?? [],
    ...(script === undefined ? {} : { script: script.text }),
  });
  if (!prepared.ok) return prepared;
  const { reads = [], writes = [], program, commands = [], ...parts } = prepared.launch;
  const launch: Launch = {
    ...parts,
    folders: writes,
    held: held.map(({ id }) => id),
    v: 1,
    kind: 'agent',
    id: run.id,
    start,
    cwd,
    files: [...parts.files, ...(started.fenceHooks === null ? [] : gitShimFiles(files.bin, started.fenceHooks))],
    env: {
      ...started.author,
      BATON_SESSION: run.task?.session_id ?? run.id,
      ...(started.judge?.stream === true ? { BATON_JUDGE: '1' } : {}),
      ...parts.env,
      ...started.env,
      ...(started.fenceHooks === null ? {} : fenceEnvironment(started.fenceHooks, parts.env)),
    },
    env_pass: [...started.envPass, ...(filled.plan.env_pass ?? []), ...clientVariables(filled.plan, context.env, user)],
    ...(isAttached(run) ? ({ terminal: true } as const) : {}),
    // While a person uses the agent, there is no timeout.
    timeout_ms: isAttached(run) ? null : (run.plan.timeout_ms ?? null),
    kill_after_ms: times.killAfterMs,
    idle_ms: isAttached(run) ? null : times.idleMs,
    ...(isAttached(run) ? {} : { silence_ms: times.silenceMs, tool_ms: times.toolMs }),
    report_ms: Math.min(REPORT_MS, times.silenceMs / 4),
    renew_ms: run.task === null ? null : times.renewalMs,
    ...(run.task !== null && context.here() !== undefined ? ({ fleet: true } as const) : {}),
    log_bytes: times.logBytes,
    finds_exit_signals: parts.finds_exit_signals && run.task !== null && started.usesExitSignals,
    token: context.supervisorToken(run.id),
    agent_token: context.agentToken(run),
    owes: started.owes,
    state_dir: stateDir,
    ...(started.judge === undefined ? {} : { judge: started.judge }),
  };
  return { ok: true, launch, reads, writes, commands, ...(program === undefined ? {} : { program }) };
}

/** A supervisor reports at least this often, so that the daemon notices when reports stop. */
const REPORT_MS = 30_000;

type LaunchRefusal = Extract<LaunchResult, { ok: false }>;

interface Filled {
  readonly ok: true;
  readonly plan: AgentPlan;
  readonly prompt: string | null;
}

interface EarlierProcesses {
  readonly hasConversation: boolean;
  readonly held: readonly HeldMessage[];
}

/** Expands the templates of a plan. Messages of people are passed on unchanged. */
function fillIn(started: StartedAgent, before: EarlierProcesses, context: EffectContext): Filled | LaunchRefusal {
  const { run, templates, prompts } = started;
  const reasons: string[] = [];
  const fill = (text: string, quote: 'shell' | 'none' = 'none', values = templates): string => {
    const rendered = renderTemplate(text, values, { quote });
    if (rendered.ok) return rendered.value;
    reasons.push(...rendered.problems.map(({ message }) => message));
    return text;
  };
  const { env = {}, cwd, model, prompt_file } = run.plan;
  const plan: AgentPlan = {
    ...run.plan,
    run: fill(run.plan.run, isShellAgent(run.plan) && !/^scripted\s/.test(run.plan.run) ? 'shell' : 'none'),
    env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, fill(text)])),
    ...(cwd === undefined ? {} : { cwd: fill(cwd) }),
    ...(model === undefined ? {} : { model: fill(model) }),
    ...(prompt_file === undefined ? {} : { prompt_file: fill(prompt_file) }),
  };
  const prompt = reasons.length > 0 ? ({ ok: true, text: null } as const) : readPrompt(plan, context.path, prompts);
  if (!prompt.ok) return prompt;
  const filledPrompt =
    prompt.text === null ? null : fill(prompt.text, 'none', withAllowedEnvironment(started, context));
  if (reasons.length > 0) return { ok: false, reason: `${reasons.join('; ')}${UNPASSED_VARIABLE_HINT}` };
  const notedPrompt = run.note === undefined ? filledPrompt : appendNote(filledPrompt, run.note);
  const message = run.resume?.message ?? null;
  const filledMessage = message === null ? null : fillMessage(run.plan, message, templates);
  return {
    ok: true,
    plan,
    prompt: firstMessage(run, notedPrompt, joinUndelivered(before.held, filledMessage), before.hasConversation),
  };
}

function appendNote(prompt: string | null, note: string): string {
  const before = prompt === null ? '' : `${prompt}\n\n`;
  return `${before}A person was asked about this work and answered:\n\n${renderFence(note)}`;
}

/**
 * The values for a prompt. A change of a prompt needs nobody in a sandbox, so it may name only variables that the agent
 * gets anyway: otherwise `${env.AWS_SECRET_ACCESS_KEY}` would put the key into a conversation.
 */
function withAllowedEnvironment({ run, templates, envPass }: StartedAgent, { env }: EffectContext): TemplateContext {
  return { ...templates, env: allowedEnvironment(env, [...envPass, ...(run.plan.env_pass ?? [])]).passed };
}

const UNPASSED_VARIABLE_HINT = ' (a prompt names only variables that pass to its agent: see env_pass)';

/** Puts messages that the earlier process did not receive first, unless the new message repeats one. */
function joinUndelivered(held: readonly HeldMessage[], message: string | null): string | null {
  const texts = held.map(({ text }) => text).filter((text) => message?.includes(text) !== true);
  return [...texts, ...(message === null ? [] : [message])].join('\n\n') || null;
}

/** The first message of the process. A conversation that continues already contains the prompt. */
function firstMessage(
  run: AgentRun,
  prompt: string | null,
  message: string | null,
  hasConversation: boolean,
): string | null {
  const { resume, plan } = run;
  if (resume === null) return prompt;
  // A client that resumes without a message would wait on its standard input forever. An attached person types one.
  if (message === null) return hasConversation ? (isAttached(run) ? null : CONTINUE) : prompt;
  // A client without a stored conversation starts over, and the message alone would lack the prompt.
  const beginsAnew = !hasConversation && isModelClient(plan.run);
  return (resume.append || beginsAnew) && prompt !== null ? `${prompt}\n\n${message}` : message;
}

const CONTINUE =
  'Continue where you stopped. When the work is done, signal completion; if you cannot continue, escalate and say why.';

/** Reads nothing of the project: its files may have changed since they were adopted. */
function readPrompt(
  { prompt, prompt_file: file }: AgentPlan,
  path: string,
  prompts: Texts,
): { readonly ok: true; readonly text: string | null } | LaunchRefusal {
  if (file === undefined) return { ok: true, text: prompt ?? null };
  if (!file.startsWith('baton:')) return findText('prompt', file, prompts);
  return { ok: true, text: readFileSync(resolvePromptPath(path, file), 'utf8') };
}

function findText(
  what: string,
  file: string,
  prompts: Texts,
): { readonly ok: true; readonly text: string } | LaunchRefusal {
  const text = prompts[fileKey(file)] ?? null;
  if (text !== null) return { ok: true, text };
  return { ok: false, reason: `its ${what} ${file} is not part of the adopted runbook: baton runbook adopt` };
}

function readConversation(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    return null;
  }
}
