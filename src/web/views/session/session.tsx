import type { AgentDetails } from '../../../api/operations/runs.ts';
import { useApi } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { Changes } from '../../kit/changes.tsx';
import { Empty, Show } from '../../kit/loading.tsx';
import { Log } from '../../kit/log/log.tsx';
import { Tabs } from '../../kit/split.tsx';
import { Words } from '../../kit/words.tsx';
import { parseSessionId, sessionFacts } from '../../model/session-facts.ts';
import { canRead } from '../../model/sessions.ts';
import { Asked } from './asked.tsx';
import { MessageBox } from './message-box.tsx';
import { Said } from './said.tsx';
import { SessionHead } from './session-head.tsx';

/** One session: its agent's output, the messages to it, its reports and its changes. */
export function Session({ route: { id, part } }: ViewProps) {
  if (id === undefined)
    return (
      <Empty>
        Sessions are listed with their work: <a href={hrefTo({ view: 'work' })}>Work</a>.
      </Empty>
    );
  const named = parseSessionId(id);
  return named.kind === 'agent' ? (
    <AgentSession key={id} agentId={named.agentId} part={part ?? 'log'} />
  ) : (
    <ClaimSession key={id} taskId={named.taskId} epoch={named.epoch} part={part ?? 'said'} />
  );
}

const PARTS = [
  ['log', 'Log'],
  ['asked', 'Asked'],
  ['said', 'Reported'],
  ['changes', 'Changes'],
] as const;

function AgentSession({ agentId, part }: { readonly agentId: string; readonly part: string }) {
  const agent = useApi('agent_show', { id: agentId }, { on: `agent:${agentId}` });
  const taskId = agent.value?.task_id ?? undefined;
  const task = useApi(
    'task_view',
    taskId === undefined ? undefined : { task_id: taskId },
    taskId === undefined ? {} : { on: `task:${taskId}` },
  ).value;
  return (
    <div class="session" data-agent={agentId}>
      <Show loaded={agent} what="the agent">
        {(value) => {
          const session = task?.sessions.find((each) => each.agent_id === value.id);
          return (
            <>
              <SessionHead facts={sessionFacts(value, session)} agent={value} task={task} epoch={session?.epoch} />
              <Tabs parts={PARTS} now={part} to={(name) => hrefTo({ view: 'session', id: agentId, part: name })} />
              {part === 'log' ? <Log of={{ id: value.id }} /> : null}
              {part === 'asked' ? <Asked agentId={value.id} /> : null}
              {part === 'said' ? <AgentSaid agent={value} epoch={session?.epoch} /> : null}
              {part === 'changes' ? <AgentChanges taskId={taskId} agentId={value.id} /> : null}
              {canRead(value.status) ? <MessageBox agent={value} /> : null}
            </>
          );
        }}
      </Show>
    </div>
  );
}

interface AgentSaidProps {
  readonly agent: AgentDetails;
  readonly epoch: number | undefined;
}

function AgentSaid({ agent: { task_id: taskId, signal }, epoch }: AgentSaidProps) {
  if (taskId !== null && epoch !== undefined) return <Said taskId={taskId} epoch={epoch} />;
  if (taskId !== null) return <Empty>Loading the session…</Empty>;
  return (
    <>
      <Empty>This agent works on no task, so Baton does not measure what it reports.</Empty>
      {signal === null ? null : (
        <p>
          Signal of the agent: {signal.kind}
          {signal.message === null ? '' : ': '}
          <Words text={signal.message} />
        </p>
      )}
    </>
  );
}

function AgentChanges({ taskId, agentId }: { readonly taskId: string | undefined; readonly agentId: string }) {
  if (taskId === undefined)
    return <Empty>This agent works on no task, so Baton does not record what it changes.</Empty>;
  return (
    <>
      <h2 class="sr">Changes</h2>
      <Changes taskId={taskId} agentId={agentId} />
    </>
  );
}

interface ClaimSessionProps {
  readonly taskId: string;
  readonly epoch: number;
  readonly part: string;
}

/**
 * The session of a person, or of a program that Baton did not start: it has no log, and its changes are the task's.
 * Also used for sessions of agents that the state has dropped.
 */
function ClaimSession({ taskId, epoch, part }: ClaimSessionProps) {
  const task = useApi('task_view', { task_id: taskId }, { on: `task:${taskId}` });
  return (
    <div class="session">
      <Show loaded={task} what="the session">
        {(value) => {
          const session = value.sessions.find((each) => each.epoch === epoch);
          if (session === undefined) return <Empty>The task has no session with this number.</Empty>;
          return (
            <>
              <SessionHead facts={sessionFacts(undefined, session)} agent={undefined} task={value} epoch={epoch} />
              <Tabs
                parts={PARTS.slice(2)}
                now={part}
                to={(name) => hrefTo({ view: 'session', id: `${taskId}:${epoch}`, part: name })}
              />
              {part === 'changes' ? (
                <>
                  <h2 class="sr">Changes</h2>
                  <Changes taskId={taskId} {...(session.agent_id === null ? {} : { agentId: session.agent_id })} />
                </>
              ) : (
                <Said taskId={taskId} epoch={epoch} />
              )}
            </>
          );
        }}
      </Show>
    </div>
  );
}
