import { useState } from 'preact/hooks';
import type { TaskDiff } from '../../api/operations/task-work.ts';
import type { SessionView } from '../../api/operations/task-view.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { useApi } from '../app/hub-client.ts';
import { route, setQuery } from '../app/router.ts';
import { type CommentTargets, findTargets, nameSession } from '../model/sessions.ts';
import { CopyCommand } from './action.tsx';
import { ChangedFile } from './diff/changed-file.tsx';
import { Counts } from './diff/counts.tsx';
import { Empty, Show } from './loading.tsx';
import { renderCount } from './numbers.ts';
import { visible } from './visible.ts';
import { Words } from './words.tsx';

export interface ChangesProps {
  readonly taskId: string;
  /** If set, only the changes of this session. */
  readonly agentId?: string;
}

/**
 * The changes in the commits of a task or a session, by file, with comments on lines for the agent that works on the
 * task.
 */
export function Changes({ taskId, agentId }: ChangesProps) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const of = agentId ?? chosen;
  const input = { task_id: taskId, stat: true, ...(of === undefined ? {} : { agent_id: of }) };
  const diff = useApi('task_diff', input, { on: `task:${taskId}` });
  const task = useApi('task_view', { task_id: taskId }, { on: `task:${taskId}` }).value;
  const sessions = task?.sessions ?? [];
  return (
    <section class="changes" aria-label="Changes" data-task={taskId}>
      {agentId === undefined ? <Chooser sessions={sessions} chosen={chosen} choose={setChosen} /> : null}
      {diff.error?.code === 'no-commit-yet' && diff.value === undefined ? (
        <Empty>There is no commit yet.</Empty>
      ) : (
        <Show loaded={diff} what="the changes">
          {(value) => <Files key={of ?? ''} diff={value} agentId={of} targets={findTargets(task, of)} />}
        </Show>
      )}
    </section>
  );
}

interface ChooserProps {
  readonly sessions: readonly SessionView[];
  readonly chosen: string | undefined;
  readonly choose: (agentId: string | undefined) => void;
}

function Chooser({ sessions, chosen, choose }: ChooserProps) {
  if (sessions.every(({ agent_id: id }) => id === null)) return null;
  return (
    <label class="bar">
      <span class="dim">Changes of</span>
      <select
        value={chosen ?? ''}
        onChange={({ currentTarget: { value } }) => choose(value === '' ? undefined : value)}
      >
        <option value="">the whole task</option>
        {sessions.map((session, i) =>
          session.agent_id === null ? null : (
            <option key={session.agent_id} value={session.agent_id}>
              {visible(nameSession(session, i), 60)}
            </option>
          ),
        )}
      </select>
    </label>
  );
}

interface FilesProps {
  readonly diff: TaskDiff;
  readonly agentId: string | undefined;
  readonly targets: CommentTargets;
}

function Files({ diff, agentId, targets }: FilesProps) {
  const { task_id: taskId, files, total, base, head } = diff;
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const shown = openAtFirst(diff);
  const named = route.value.query['file'];
  const isOpen = (path: string): boolean => toggled.get(path) ?? (path === named || shown.has(path));
  const toggle = (path: string, next: boolean): void => {
    setToggled(new Map([...toggled, [path, next]]));
    const { file: _, ...query } = route.peek().query;
    setQuery(next ? { ...query, file: path } : query);
  };
  const setAll = (next: boolean): void => setToggled(new Map(files.map(({ path }) => [path, next])));
  const areAllOpen = files.every(({ path }) => isOpen(path));
  if (files.length === 0)
    return <Empty>{base === head ? 'There is no commit to show.' : 'The commits change no file.'}</Empty>;
  return (
    <>
      <div class="bar">
        <Totals diff={diff} />
        <button type="button" class="quiet" onClick={() => setAll(!areAllOpen)}>
          {areAllOpen ? 'Collapse all' : 'Expand all'}
        </button>
        <CopyCommand command={commandOf(taskId, agentId)} />
      </div>
      <ul class="files" aria-label="Changed files">
        {files.map((file) => (
          <li key={file.path} data-path={file.path}>
            <ChangedFile
              file={file}
              place={{ taskId, agentId, path: file.path, base, head }}
              isOpen={isOpen(file.path)}
              isNamed={file.path === named}
              toggle={(next) => toggle(file.path, next)}
              targets={targets}
            />
          </li>
        ))}
      </ul>
      {total.files > files.length ? (
        <p class="dim">{renderCount(total.files - files.length)} more files are not listed here.</p>
      ) : null}
      <OpenWork diff={diff} />
    </>
  );
}

function Totals({ diff: { commits, total, base, head } }: { readonly diff: TaskDiff }) {
  return (
    <span class="number grow">
      {counted(total.files, 'file')} <Counts {...total} /> in {counted(commits, 'commit')}{' '}
      <code class="dim" title={`${base}..${head}`}>
        {base.slice(0, 8)}..{head.slice(0, 8)}
      </code>
    </span>
  );
}

function OpenWork({ diff: { of, worktree } }: { readonly diff: TaskDiff }) {
  if (worktree === null || of === 'merge') return null;
  return (
    <p class="dim">
      Only commits are shown. A session works in <Words text={worktree} most={300} />, which may have uncommitted
      changes.
    </p>
  );
}

/** A small change is loaded at once, a larger one file by file. */
const MOST_LINES_AT_FIRST = 300;
const MOST_FILES_AT_FIRST = 6;

function openAtFirst({ files }: TaskDiff): ReadonlySet<string> {
  const open = new Set<string>();
  let lines = 0;
  for (const { path, additions, deletions } of files) {
    lines += additions + deletions;
    if (lines > MOST_LINES_AT_FIRST || open.size === MOST_FILES_AT_FIRST) break;
    open.add(path);
  }
  return open;
}

function commandOf(taskId: string, agentId: string | undefined): string {
  const session = agentId === undefined ? '' : ` --session ${agentId.slice(0, 8)}`;
  return `baton task diff ${shellWord(taskId)}${session}`;
}

function counted(count: number, noun: string): string {
  return `${renderCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
