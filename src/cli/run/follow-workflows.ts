import type { Client } from '../../api/client/client.ts';
import { createObserver, reportCopying, reportWhenAway } from '../ask.ts';
import { EXIT, type Io, type ParsedArguments } from '../command.ts';
import { reportError } from '../operation-command.ts';
import { followEntries, untilInterrupted } from './follow-entries.ts';
import { printDecision } from './follow-run.ts';
import { WorkflowsStory } from './workflows-story.ts';

export interface FollowedWorkflows {
  readonly ids: readonly string[];
  /** The newest entry before the start. */
  readonly after: number;
}

/**
 * Prints the progress of several workflows until all are over, none continues without a person, or the user interrupts.
 */
export async function followWorkflows(run: FollowedWorkflows, given: ParsedArguments, io: Io): Promise<number> {
  using interrupt = untilInterrupted();
  using client = createObserver(given, io);
  using _away = reportWhenAway(io, client);
  using _copying = reportCopying(io, async (signal) => client.call('status_get', {}, { signal }));
  const story = new WorkflowsStory(await readWaits(client, run.ids));
  const isJson = given.options.has('json');
  if (!isJson) for (const line of story.queued) io.out(`${line}\n`);
  const entries = followEntries(client, { after: run.after, signal: interrupt.signal });
  try {
    for (let next = await entries.next(); ; next = await entries.next()) {
      if (next.done === true) {
        io.err('The runs continue in the background. To see them: baton status --watch\n');
        return next.value === undefined ? EXIT.interrupted : reportError(next.value, given, io);
      }
      const { type, data, json } = next.value;
      const line = story.describe(type, data);
      if (line !== undefined) io.out(isJson ? `${json}\n` : `${line}\n`);
      const { progress } = story;
      if (progress.kind === 'over') return progress.outcome === 'done' ? EXIT.ok : EXIT.failed;
      if (progress.kind === 'running') continue;
      for (const id of story.decisionIds) await printDecision(client, id, given, io);
      if (progress.kind === 'waiting') return EXIT.waiting;
      if (!isJson) for (const each of story.queued) io.out(`${each}\n`);
      return story.hasFailed ? EXIT.failed : EXIT.waiting;
    }
  } finally {
    await entries.return(undefined);
  }
}

async function readWaits(client: Client, ids: readonly string[]) {
  return Promise.all(
    ids.map(async (id) => {
      const answer = await client.call('task_get', { task_id: id });
      return { id, waitsFor: answer.ok ? answer.result.waits_for : [] };
    }),
  );
}
