import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { AgentView, PipelineView } from '../../api/run-views.ts';
import { withClient } from '../ask.ts';
import { suggestId } from '../completion/suggest-id.ts';
import { EXIT, type Io, type ParsedArguments } from '../command.ts';
import { exitCodeOfOutcome } from '../operation-input.ts';
import { reportError } from '../operation-command.ts';
import { lookOf, paint } from '../status/paint.ts';
import { agentPieces } from '../status/pipeline-item.ts';
import { renderTree } from '../view/render-tree.ts';
import { readHeadSeq } from './follow-entries.ts';
import { type FollowedRun, followRun } from './follow-run.ts';
import { renderPipeline } from './pipelines.ts';

/** `baton run --follow ID`: follows an existing run. ID is a task's id, or the start of a pipeline's or agent's. */
export async function followExisting(id: string, given: ParsedArguments, io: Io): Promise<number> {
  const found = await withClient(given, io, async (client) => findRun(id, client));
  if (!found.ok) return reportError(found.error, given, io);
  const { run, text, exitCode } = found;
  // At a terminal a workflow's tree shows everything.
  const isShown = given.options.has('json') || (run.seen !== undefined && io.isTerminal);
  if (!isShown) io.out(text(io));
  return exitCode ?? followRun(run, given, io);
}

type Refused = { readonly ok: false; readonly error: ApiError };

interface Found {
  readonly ok: true;
  readonly run: FollowedRun;
  /** Renders the current state. */
  readonly text: (io: Io) => string;
  /** The exit code if the run has ended. */
  readonly exitCode?: number;
}

async function findRun(id: string, client: Client): Promise<Found | Refused> {
  // Read first, so that no entry after the views is missed.
  const after = await readHeadSeq(client);
  const task = await client.call('task_view', { task_id: id });
  if (task.ok) {
    const seen = task.result;
    const tree = (io: Io): string[] => renderTree(seen, { ...lookOf(io), rows: Infinity, story: [] });
    return { ok: true, run: { kind: 'workflow', id: seen.id, after, seen }, text: (io) => `${tree(io).join('\n')}\n` };
  }
  if (!UNKNOWN.has(task.error.code)) return task;
  const pipeline = await client.call('pipeline_show', { id });
  if (pipeline.ok) return foundPipeline(pipeline.result, after, client);
  if (!UNKNOWN.has(pipeline.error.code)) return pipeline;
  const agent = await client.call('agent_show', { id });
  if (agent.ok) return foundAgent(agent.result, after);
  if (!UNKNOWN.has(agent.error.code)) return agent;
  const refused: Refused = { ok: false, error: noSuchRun(id) };
  return suggestId(refused, client.call.bind(client));
}

/** The id is invalid, or unknown. */
const UNKNOWN: ReadonlySet<string> = new Set(['no-such-task', 'no-such-pipeline', 'no-such-agent', 'bad-request']);

function noSuchRun(id: string): ApiError {
  return {
    code: 'no-such-run',
    message: `there is no task, pipeline or agent ${id}`,
    hint: 'See what runs: baton status',
  };
}

async function foundPipeline(pipeline: PipelineView, after: number, client: Client): Promise<Found> {
  const text = (): string => renderPipeline(pipeline);
  const run = { kind: 'pipeline', id: pipeline.id, after };
  if (pipeline.ended_at !== null) return { ok: true, run, text, exitCode: exitCodeOfOutcome(pipeline) };
  const [pipelines, agents] = await Promise.all([client.call('pipeline_list', {}), client.call('agent_list', {})]);
  const nested = (pipelines.ok ? pipelines.result.pipelines : []).map(({ id, name, parent }) => {
    return { id, name, owner: parent?.pipeline_id ?? null };
  });
  const inside = (agents.ok ? agents.result.agents : []).map(({ id, name, pipeline_id: owner }) => ({
    id,
    name,
    owner,
  }));
  return { ok: true, run: { ...run, members: [...nested, ...inside], asked: pipeline.decision_id }, text };
}

function foundAgent(agent: AgentView, after: number): Found {
  const { id, name, decision_id: asked } = agent;
  const run = { kind: 'agent', id, after, members: [{ id, name, owner: null }], asked };
  const text = (io: Io): string => `${paint(agentPieces(agent, Date.now()), lookOf(io))}\n`;
  return agent.outcome === null
    ? { ok: true, run, text }
    : { ok: true, run, text, exitCode: agent.outcome === 'done' ? EXIT.ok : EXIT.failed };
}
