import { useApi } from '../app/hub-client.ts';
import { Show } from './loading.tsx';
import { Words } from './words.tsx';

export interface ChangesProps {
  readonly taskId: string;
  /** Only what this session changed. */
  readonly agentId?: string;
}

/** What the commits of a task, or of one session, change: by file. */
export function Changes({ taskId, agentId }: ChangesProps) {
  const input = { task_id: taskId, stat: true, ...(agentId === undefined ? {} : { agent_id: agentId }) };
  const diff = useApi('task_diff', input, { on: `task:${taskId}` });
  return (
    <Show loaded={diff} what="the changes">
      {({ files }) => (
        <ul>
          {files.map(({ path, additions, deletions }) => (
            <li key={path}>
              <Words text={path} /> +{additions} −{deletions}
            </li>
          ))}
        </ul>
      )}
    </Show>
  );
}
