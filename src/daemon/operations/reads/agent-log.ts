import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { agentLog, type AgentLogPart } from '../../../api/operations/agent-log.ts';
import type { Answer } from '../../../api/answer.ts';
import { FileChangeSignal } from '../../../api/file-change-signal.ts';
import type { InputOf } from '../../../api/operations/registry.ts';
import { outputFormatOf } from '../../../protocol/run-plan.ts';
import { refusal } from '../../../state/outcome.ts';
import type { AgentRun } from '../../../state/runs/agent-run.ts';
import type { State } from '../../../state/state.ts';
import { agentFiles, commandFiles } from '../../../supervisor/contract.ts';
import { LATER } from '../../loop/request.ts';
import { hostField } from '../../views/run-views.ts';
import { type Call, type FoundRun, handlerFor, refusalOf, unchanged } from '../call.ts';
import { findRunByPrefix } from '../runs.ts';
import { type LogSource, readLogPart } from './log-part.ts';

export const agentLogHandler = handlerFor(agentLog, async (call): Promise<Answer<AgentLogPart>> => {
  const { id, command_id } = call.input;
  if ((id === undefined) === (command_id === undefined))
    return refusalOf(refusal('bad-request', 'name an agent (`id`) or a command (`command_id`)', 'Give one of them.'));
  if (command_id !== undefined)
    return { ok: true, result: await follow(call, async () => commandSource(call, command_id)) };
  const found = await call.project.commandLoop.read(({ state }) => findAgent(state, id ?? '', call));
  if (!found.ok) return refusalOf(found);
  if (!found.answer.ok) return refusalOf(found.answer);
  const { run } = found.answer;
  return { ok: true, result: await follow(call, async () => agentSource(call, run), run.id) };
});

function findAgent(state: State, id: string, { project }: Call): FoundRun<AgentRun> {
  const found = findRunByPrefix(state.agents, id, 'agent');
  const { host } = found.ok ? hostField(found.run, state) : {};
  if (!found.ok || host === undefined || found.run.process === 'wanted') return found;
  if (existsSync(agentFiles(project.stateDir, found.run.id).folder)) return found;
  const message = `agent ${found.run.id.slice(0, 8)} is on host ${host}, and its log stays there`;
  return refusal('log-elsewhere', message, `On ${host}: baton agent logs ${found.run.id.slice(0, 8)}`);
}

/** Reads the state before the log, so that an ended agent's output is complete in the log. */
async function agentSource({ project }: Call, { id, plan }: AgentRun): Promise<LogSource> {
  const read = await project.commandLoop.read(({ state }) => isOver(state.agents.get(id)));
  const format = outputFormatOf(plan.run);
  return { agentId: id, path: agentFiles(project.stateDir, id).log, format, isOver: read.ok && read.answer };
}

function isOver(run: AgentRun | undefined): boolean {
  return run === undefined || (run.outcome !== null && run.process !== 'running');
}

async function commandSource({ project }: Call, commandId: string): Promise<LogSource> {
  const { folder, log, exit } = commandFiles(project.stateDir, commandId);
  const endFile = exit(1);
  return { agentId: null, path: log, format: 'text', endFile, isOver: existsSync(endFile) || !existsSync(folder) };
}

/** Reads once. With `wait_ms`, reads again whenever the file changes or the agent ends, until there is a line. */
async function follow(
  call: Call<InputOf<'agent_log'>>,
  findSource: () => Promise<LogSource>,
  agentId?: string,
): Promise<AgentLogPart> {
  const { input, services, signal } = call;
  const waitMs = input.from === undefined ? 0 : (input.wait_ms ?? 0);
  const source = await findSource();
  if (waitMs === 0) return readLogPart(source, input);
  const untilMs = services.monotonicMs() + waitMs;
  using bell = createBell(call, source, agentId, waitMs);
  for (;;) {
    // Started before the file is read, so that no change is missed.
    bell.signal.listen();
    const part = await readLogPart(await findSource(), input);
    const isTimeUp = services.monotonicMs() >= untilMs || signal?.aborted === true;
    if (part.text !== '' || part.is_cut || part.ended || isTimeUp) return part;
    await bell.signal.wait();
    // A program that prints character by character would ring for each one.
    await pause(PAUSE_MS);
  }
}

const PAUSE_MS = 50;

/** Rings when the log changes, an entry about the agent is recorded, the caller disconnects, or the time is over. */
function createBell(
  call: Call,
  { path, endFile }: LogSource,
  agentId: string | undefined,
  waitMs: number,
): Disposable & { readonly signal: FileChangeSignal } {
  const bell = new FileChangeSignal(path, endFile === undefined ? [] : [basename(endFile)]);
  const ring = (): void => bell.ring();
  const over = new AbortController();
  const timer = setTimeout(ring, waitMs);
  call.signal?.addEventListener('abort', ring, { once: true });
  if (agentId !== undefined) void watchAgent(call, agentId, waitMs, { signal: over.signal, ring });
  return {
    signal: bell,
    [Symbol.dispose]: () => {
      over.abort();
      clearTimeout(timer);
      call.signal?.removeEventListener('abort', ring);
      bell.close();
    },
  };
}

/**
 * Watches the agent's entries too: the log's folder is made at the start, and the end is recorded after the last line.
 */
async function watchAgent({ project }: Call, agentId: string, ms: number, watcher: Watcher): Promise<void> {
  const { signal, ring } = watcher;
  for (let known = project.read((state) => state.agents.get(agentId)); !isOver(known) && !signal.aborted;) {
    const seen = await project.commandLoop.submit<AgentRun | undefined>({
      actor: 'system:reader',
      waitLimit: { ms, otherwise: unchanged(undefined), signal },
      decide: ({ state }) => {
        const now = state.agents.get(agentId);
        return now === known ? LATER : unchanged(now);
      },
    });
    if (!seen.ok) return;
    known = seen.answer;
    ring();
  }
}

interface Watcher {
  readonly signal: AbortSignal;
  readonly ring: () => void;
}
