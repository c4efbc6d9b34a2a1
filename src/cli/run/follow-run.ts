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
import { reportError } from '../operation-command.ts';
import { shortId } from '../text.ts';
import { followEntries, untilInterrupted } from './follow-entries.ts';
import { logsOf, renderOutput } from './pipelines.ts';
import { RunStory, WorkflowStory } from './story.ts';

export interface FollowedRun {
  readonly kind: string;
  readonly id: string;
  /** The newest entry before the run. */
  readonly after: number;
}

/** Prints the progress of a run until it ends, needs a person, or the user interrupts. */
export async function followRun(run: FollowedRun, given: ParsedArguments, io: Io): Promise<number> {
  using interrupt = untilInterrupted();
  using client = createObserver(given, io);
  using _away = reportWhenAway(io, client);
  using _copying = reportCopying(io, async (signal) => client.call('status_get', {}, { signal }));
  const entries = followEntries(client, { after: run.after, signal: interrupt.signal });
  try {
    const outputs = new StepOutputs(run.id, findStateDir(io.env));
    const story = run.kind === 'workflow' ? new WorkflowStory(run.id) : new RunStory(run.id);
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
      const { progress } = story;
      if (progress.kind === 'over') return progress.outcome === 'done' ? EXIT.ok : EXIT.failed;
      if (progress.kind === 'waiting') {
        await printDecision(client, progress.decisionId, given, io);
        return EXIT.waiting;
      }
    }
  } finally {
    await entries.return(undefined);
  }
}

function reportLeft({ kind, id }: FollowedRun, error: ApiError | undefined, given: ParsedArguments, io: Io): number {
  const noun = kind === 'agent' ? 'agent' : 'pipeline';
  const stop = noun === 'agent' ? 'kill' : 'cancel';
  const next =
    kind === 'workflow'
      ? `See it: baton task show ${id}, or everything: baton status --watch`
      : `Wait for it: baton ${noun} wait ${shortId(id)}, stop it: baton ${noun} ${stop} ${shortId(id)}`;
  io.err(`It continues in the background. ${next}\n`);
  return error === undefined ? EXIT.interrupted : reportError(error, given, io);
}

export async function printDecision(client: Client, id: string, given: ParsedArguments, io: Io): Promise<void> {
  if (given.options.has('json')) return;
  const answer = await client.call('decision_show', { id });
  if (answer.ok) io.out(`\n${renderDecision(answer.result, new Date())}`);
  else io.out(`Decide: baton decision show ${shortId(id)}\n`);
}

/** Prints the output of steps: the end of it after a failure, all of it if the run is a single shell command. */
class StepOutputs {
  readonly #root: string;
  readonly #stateDir: string;
  #isPlain = false;
  readonly #runners = new Map<string, { readonly agentId: string } | { readonly log: string }>();

  constructor(root: string, stateDir: string) {
    this.#root = root;
    this.#stateDir = stateDir;
  }

  /** Must get every entry: entries that print no line name what runs a step. */
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
