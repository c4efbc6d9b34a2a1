import { existsSync } from 'node:fs';
import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { type Fields, fieldsOf, objectsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { commandFiles } from '../../supervisor/contract.ts';
import { rawLogView } from '../agents/log-view.ts';
import { readLog } from '../agents/logs.ts';
import { createObserver, reportCopying, reportWhenAway } from '../ask.ts';
import { EXIT, type Io, type ParsedArguments } from '../command.ts';
import { renderDecision } from '../decisions/decisions.ts';
import { askOne, mayAsk, withPrompt } from '../decisions/review.ts';
import { reportError } from '../operation-command.ts';
import { lookOf } from '../status/paint.ts';
import { printable, shortId } from '../text.ts';
import { followEntries, readHeadSeq, untilInterrupted } from './follow-entries.ts';
import { logsOf, renderOutput } from './pipelines.ts';
import { type RunProgress, RunStory, WorkflowStory } from './story.ts';
import { type FollowedTask, showTask } from './workflow-screen.ts';

export interface FollowedRun extends FollowedTask {
  readonly kind: string;
  /** Pipelines and agents that started before the follower, owners first. */
  readonly members?: readonly { readonly id: string; readonly name: string; readonly owner: string | null }[];
  /** The decision that a pipeline or agent waited for at that time. */
  readonly asked?: string | null;
}

/**
 * Shows the progress of a run until it ends, needs a person, or the user interrupts. A workflow at a terminal is shown
 * as a live tree, anything else in lines.
 */
export async function followRun(run: FollowedRun, given: ParsedArguments, io: Io): Promise<number> {
  const isTree = run.kind === 'workflow' && io.isTerminal && !given.options.has('json') && io.env['TERM'] !== 'dumb';
  return isTree ? followOnScreen(run, given, io) : followInLines(run, given, io);
}

async function followOnScreen(run: FollowedRun, given: ParsedArguments, io: Io): Promise<number> {
  using interrupt = untilInterrupted();
  using client = createObserver(given, io);
  let followed: FollowedTask = run;
  for (;;) {
    const progress = await showTask(followed, client, interrupt.signal, io);
    if (progress.kind === 'running') return reportLeft(run, undefined, given, io);
    if (progress.kind === 'over' || !mayAsk(io)) return reportEnd(progress, client, given, io);
    // The person at the terminal answers here, and following continues.
    const { decisionId } = progress;
    io.out('\n');
    const outcome = await withPrompt(async (ask) => askOne(decisionId, client, ask, io));
    if (outcome === 'skipped' || outcome === 'quit') {
      io.out(
        `Answer later: baton decision show ${shortId(decisionId)}. Follow it again: baton run --follow ${printable(run.id)}\n`,
      );
      return EXIT.waiting;
    }
    const after = await readHeadSeq(client);
    const seen = await client.call('task_view', { task_id: run.id });
    followed = { id: run.id, after, ...(seen.ok ? { seen: seen.result } : {}) };
  }
}

async function followInLines(run: FollowedRun, given: ParsedArguments, io: Io): Promise<number> {
  using interrupt = untilInterrupted();
  using client = createObserver(given, io);
  using _away = reportWhenAway(io, client);
  using _copying = reportCopying(io, async (signal) => client.call('status_get', {}, { signal }));
  const entries = followEntries(client, { after: run.after, signal: interrupt.signal });
  try {
    const outputs = new StepOutputs(run.id, findStateDir(io.env));
    const story = storyOf(run);
    if (story.progress.kind !== 'running') return await reportEnd(story.progress, client, given, io);
    for (let next = await entries.next(); ; next = await entries.next()) {
      if (next.done === true) return reportLeft(run, next.value, given, io);
      const { type, data, json } = next.value;
      outputs.note(type, data);
      const line = story.describe(type, data);
      if (line !== undefined && given.options.has('json')) io.out(`${json}\n`);
      else if (line !== undefined) {
        io.out(`${line}\n`);
        await outputs.print(type, data, line, (below) => io.out(`${below}\n`));
      }
      if (story.progress.kind !== 'running') return await reportEnd(story.progress, client, given, io);
    }
  } finally {
    await entries.return(undefined);
  }
}

function storyOf({ kind, id, seen, asked, members = [] }: FollowedRun): RunStory | WorkflowStory {
  if (kind === 'workflow') return new WorkflowStory(id, seen);
  const story = new RunStory(id, asked);
  for (const member of members) story.know(member.id, member.name, member.owner);
  return story;
}

type Ended = Exclude<RunProgress, { readonly kind: 'running' }>;

async function reportEnd(progress: Ended, client: Client, given: ParsedArguments, io: Io): Promise<number> {
  if (progress.kind === 'over') return progress.outcome === 'done' ? EXIT.ok : EXIT.failed;
  await printDecision(client, progress.decisionId, given, io);
  return EXIT.waiting;
}

function reportLeft({ kind, id }: FollowedRun, error: ApiError | undefined, given: ParsedArguments, io: Io): number {
  const noun = kind === 'agent' ? 'agent' : 'pipeline';
  const stop = noun === 'agent' ? 'kill' : 'cancel';
  const next =
    kind === 'workflow'
      ? `Show it again: baton run --follow ${id}, or everything: baton status --watch`
      : `Wait for it: baton ${noun} wait ${shortId(id)}, stop it: baton ${noun} ${stop} ${shortId(id)}`;
  io.err(`The run continues in the background. ${next}\n`);
  return error === undefined ? EXIT.interrupted : reportError(error, given, io);
}

export async function printDecision(client: Client, id: string, given: ParsedArguments, io: Io): Promise<void> {
  if (given.options.has('json')) return;
  const answer = await client.call('decision_show', { id });
  if (answer.ok) io.out(`\n${renderDecision(answer.result, new Date(), lookOf(io))}`);
  else io.out(`Decide: baton decision show ${shortId(id)}\n`);
}

/** Prints the output of steps: after a failure its end, or all of it if the run is a single shell command. */
class StepOutputs {
  readonly #root: string;
  readonly #stateDir: string;
  #isPlain = false;
  readonly #runners = new Map<string, { readonly agentId: string } | { readonly log: string }>();

  constructor(root: string, stateDir: string) {
    this.#root = root;
    this.#stateDir = stateDir;
  }

  /** Must receive every entry, because entries that print no line name the runner of a step. */
  note(type: string, data: Fields): void {
    if (type === 'PipelineStarted' && data['pipeline_id'] === this.#root)
      this.#isPlain = isPlain(fieldsOf(data['plan']));
    else if (type === 'CommandRequested') {
      const { log } = commandFiles(this.#stateDir, textOf(data['command_id']));
      this.#runners.set(placeOf(fieldsOf(data['subject'])), { log });
    } else if (type === 'AgentRequested')
      this.#runners.set(placeOf(fieldsOf(data['owner'])), { agentId: textOf(data['agent_id']) });
  }

  async print(type: string, data: Fields, line: string, onLine: (line: string) => void): Promise<void> {
    if (type !== 'StepFinished') return;
    const place = placeOf(data);
    const runner = this.#runners.get(place);
    this.#runners.delete(place);
    const log = runner !== undefined && 'log' in runner && existsSync(runner.log) ? runner.log : null;
    const indent = `${/^ */.exec(line)?.[0] ?? ''}  `;
    if (data['outcome'] === 'failed') {
      const where = runner !== undefined && 'agentId' in runner ? logsOf(runner.agentId) : log;
      for (const below of renderOutput(textOf(data['output']), indent, where)) onLine(below);
    } else if (this.#isPlain && log !== null) {
      await readLog(log, { view: rawLogView(), onLine: (below) => onLine(`${indent}${below}`.trimEnd()) });
    }
  }
}

function isPlain({ pipeline, pipelines }: Fields): boolean {
  const [first, second] = objectsOf(fieldsOf(fieldsOf(pipelines)[textOf(pipeline)])['steps']);
  return second === undefined && fieldsOf(first?.['run'])['kind'] === 'shell';
}

function placeOf({ pipeline_id, step }: Fields): string {
  return `${textOf(pipeline_id)}/${textOf(step)}`;
}
