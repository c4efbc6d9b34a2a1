import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { TaskOverview } from '../../api/operations/task-view.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { agentFiles } from '../../supervisor/contract.ts';
import { reportCopying } from '../ask.ts';
import type { Io } from '../command.ts';
import { wantsColors } from '../status/paint.ts';
import type { Away } from '../status/render-status.ts';
import { renderTree } from '../view/render-tree.ts';
import { afterMs } from '../view/stage-pieces.ts';
import { AgentLine } from './agent-line.ts';
import { followView } from './follow-view.ts';
import { LiveRegion } from './live-region.ts';
import { type RunProgress, WorkflowStory } from './story.ts';

export interface FollowedTask {
  readonly id: string;
  /** The newest entry before the follower started. */
  readonly after: number;
  /** The view at that time, for a task that was started earlier. Its content is not reported again. */
  readonly seen?: TaskOverview;
}

/**
 * Shows a task as a live tree until it ends, needs a person, or `signal` aborts. Returns the last progress. While the
 * daemon is unavailable, the tree shows that and waits.
 */
export async function showTask(task: FollowedTask, client: Client, signal: AbortSignal, io: Io): Promise<RunProgress> {
  const screen = new TaskScreen(task, io);
  try {
    using _copying = reportCopying({ isTerminal: true, err: (text) => screen.tell(text.trimEnd()) }, async (until) =>
      client.call('status_get', {}, { signal: until }),
    );
    const over = new AbortController();
    const story = new WorkflowStory(task.id, task.seen);
    const read = async (until: AbortSignal) => client.call('task_view', { task_id: task.id }, { signal: until });
    const end = (): void => {
      if (story.progress.kind !== 'running') over.abort();
    };
    end();
    await followView(
      client,
      { read, signal: AbortSignal.any([signal, over.signal]), after: task.after },
      {
        onView: (view) => screen.show(view),
        onAway: (why) => screen.lose(why),
        onEntry: ({ type, data }) => {
          const line = story.describe(type, data);
          if (line !== undefined) screen.tell(line);
          end();
        },
      },
    );
    if (signal.aborted) return { kind: 'running' };
    const last = await read(signal);
    // The caller prints the decision that ends it.
    if (last.ok) screen.show({ ...last.result, decisions: [] });
    return story.progress;
  } finally {
    screen[Symbol.dispose]();
  }
}

class TaskScreen implements Disposable {
  readonly #io: Io;
  readonly #stateDir: string;
  readonly #region: LiveRegion;
  readonly #clock: NodeJS.Timeout;
  readonly #story: string[] = [];
  #agentLine: AgentLine | undefined;
  #view: TaskOverview | undefined;
  #shownAt = 0;
  #away: Away | undefined;

  constructor({ seen }: FollowedTask, io: Io) {
    this.#io = io;
    this.#stateDir = findStateDir(io.env);
    this.#region = new LiveRegion(
      (text) => io.out(text),
      () => this.#paint(),
    );
    // Updates the times and the agent's last line.
    this.#clock = setInterval(() => this.#paint(), 1000);
    if (seen !== undefined) this.show(seen);
  }

  show(view: TaskOverview): void {
    this.#view = view;
    this.#shownAt = performance.now();
    this.#away = undefined;
    this.#paint();
  }

  /** Keeps the last view, and stops its clock. */
  lose(why: ApiError): void {
    this.#away ??= { since: new Date(), why };
    this.#paint();
  }

  tell(line: string): void {
    this.#story.push(line);
    this.#paint();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#clock);
    this.#region[Symbol.dispose]();
  }

  #paint(): void {
    if (this.#view === undefined) return;
    const { columns, rows } = this.#region;
    const view = this.#away === undefined ? afterMs(this.#view, performance.now() - this.#shownAt) : this.#view;
    this.#region.paint(
      renderTree(view, {
        columns,
        rows,
        colors: wantsColors(this.#io),
        story: this.#story,
        agentLine: this.#readAgentLine(view),
        away: this.#away,
      }),
    );
  }

  #readAgentLine({ claim, sessions }: TaskOverview): string | undefined {
    const held = claim === null ? undefined : sessions.findLast(({ epoch }) => epoch === claim.epoch);
    if (!held?.agent_id) return undefined;
    const { agent_id: id, run } = held;
    if (this.#agentLine?.agentId !== id)
      this.#agentLine = new AgentLine(id, run ?? '', agentFiles(this.#stateDir, id).log);
    return this.#agentLine.read();
  }
}
