import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { createObserver } from '../ask.ts';
import { EXIT, type ParsedArguments, type Io } from '../command.ts';
import { renderDecision } from '../decisions/show-decision.ts';
import { reportError } from '../operation-command.ts';
import { reportCopying } from '../say-copying.ts';
import { reportWhenAway } from '../say-when-away.ts';
import { followEntries } from './follow-entries.ts';
import { untilInterrupted } from './interrupt.ts';
import { fieldsIn } from './read-fields.ts';
import { StepOutputs } from './step-outputs.ts';
import { RunStory } from './story.ts';
import { parseDecision, shortId } from './views.ts';
import { WorkflowStory } from './workflow-story.ts';

export interface FollowedRun {
  readonly kind: string;
  readonly id: string;
  /** The newest entry before it began. */
  readonly after: number;
}

/** Tells how a run goes until it is over, needs a person, or whoever looks on leaves. */
export async function followRun(run: FollowedRun, given: ParsedArguments, io: Io): Promise<number> {
  using interrupt = untilInterrupted();
  const client = createObserver(given, io);
  using _away = reportWhenAway(io, client);
  using _copying = reportCopying(io, client);
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
      const { progress: standing } = story;
      if (standing.kind === 'over') return standing.outcome === 'done' ? EXIT.ok : EXIT.failed;
      if (standing.kind === 'waiting') {
        await printDecisions(client, standing.decisionId, given, io);
        return EXIT.waiting;
      }
    }
  } finally {
    await entries.return(undefined);
    client.close();
  }
}

function reportLeft({ kind, id }: FollowedRun, error: ApiError | undefined, given: ParsedArguments, io: Io): number {
  if (kind === 'workflow') {
    io.err(`It goes on without you. See it: baton task show ${id}, or everything: baton status --watch\n`);
    return error === undefined ? EXIT.interrupted : reportError(error, given, io);
  }
  const noun = kind === 'agent' ? 'agent' : 'pipeline';
  const stop = noun === 'agent' ? 'kill' : 'cancel';
  io.err(
    `It goes on without you. Wait for it: baton ${noun} wait ${shortId(id)}, end it: baton ${noun} ${stop} ${shortId(id)}\n`,
  );
  return error === undefined ? EXIT.interrupted : reportError(error, given, io);
}

async function printDecisions(client: Client, id: string, given: ParsedArguments, io: Io): Promise<void> {
  if (given.options.has('json')) return;
  const answer = await client.call('decision_show', { id });
  if (answer.ok) io.out(`\n${renderDecision(parseDecision(fieldsIn(answer.result)), new Date())}`);
  else io.out(`Decide: baton decision show ${shortId(id)}\n`);
}
