import type { ComponentChildren } from 'preact';
import type { AgentDetails } from '../../../api/operations/runs.ts';
import type { TaskOverview } from '../../../api/operations/task-view.ts';
import { hrefTo } from '../../app/router.ts';
import { CopyCommand } from '../../kit/action.tsx';
import { renderAmount, renderCount, renderMoney } from '../../kit/numbers.ts';
import { StateMark } from '../../kit/state-mark.tsx';
import { Age, now, renderSpan, renderTime } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import type { SessionFacts } from '../../model/session-facts.ts';
import { canRead } from '../../model/sessions.ts';
import { StopAgent } from './stop-agent.tsx';

interface SessionHeadProps {
  readonly facts: SessionFacts;
  readonly agent: AgentDetails | undefined;
  readonly task: TaskOverview | undefined;
  readonly epoch: number | undefined;
}

/** The head of a session: who works, on what, since when, at what cost. */
export function SessionHead({ facts, agent, task, epoch }: SessionHeadProps) {
  return (
    <header class="session-head">
      <div class="bar">
        <h1>
          <Words text={facts.name} most={80} />
        </h1>
        <StateMark state={facts.state} />
        {agent === undefined ? null : <code class="dim">{agent.id.slice(0, 8)}</code>}
        <span class="grow one-line">{task === undefined ? null : <TaskLink task={task} />}</span>
        {agent === undefined || !canRead(agent.status) ? null : (
          <>
            <CopyCommand command={`baton agent attach ${agent.id.slice(0, 8)}`} />
            <StopAgent agentId={agent.id} name={agent.name} />
          </>
        )}
      </div>
      <Waits agent={agent} facts={facts} />
      <dl class="strip">
        <Fact name="role">{facts.role === null ? null : <Words text={facts.role} most={60} />}</Fact>
        <Fact name="runs">{facts.run === null ? null : <Runs run={facts.run} model={facts.model} />}</Fact>
        <Fact name="by">{facts.holder === null ? null : <Words text={facts.holder} most={60} />}</Fact>
        <Fact name="host">{facts.host === null ? null : <Words text={facts.host} most={60} />}</Fact>
        <Fact name="sandbox">{facts.sandbox === null ? null : <Words text={facts.sandbox} most={120} />}</Fact>
        <Fact name="started">{facts.startedAt === null ? null : <Started at={facts.startedAt} />}</Fact>
        <Fact name="ended">{facts.endedAt === null ? null : <Ended facts={facts} />}</Fact>
        <Fact name="tokens">{facts.tokens === null ? null : renderAmount(facts.tokens)}</Fact>
        <Fact name="cost">{facts.costMillicents === null ? null : renderMoney(facts.costMillicents)}</Fact>
        <Fact name="turns">{facts.turns === null ? null : renderCount(facts.turns)}</Fact>
        <Fact name="stops blocked">{facts.blocks === null ? null : renderCount(facts.blocks)}</Fact>
        <Fact name="processes">{(facts.processes ?? 1) <= 1 ? null : renderCount(facts.processes ?? 0)}</Fact>
        <Fact name="claim expires">{leaseOf(task, epoch)}</Fact>
      </dl>
    </header>
  );
}

function TaskLink({ task }: { readonly task: TaskOverview }) {
  return (
    <a href={hrefTo({ view: 'work', id: `task:${task.id}` })}>
      <Words text={task.id} most={60} /> <Words text={task.title} most={200} />
    </a>
  );
}

/** The decision for which an agent waits. */
function Waits({
  agent,
  facts: { reason },
}: {
  readonly agent: AgentDetails | undefined;
  readonly facts: SessionFacts;
}) {
  const decision = agent?.decision_id ?? null;
  if (decision !== null)
    return (
      <p>
        <StateMark state="waiting" word="waits for a decision" />:{' '}
        <a href={hrefTo({ view: 'inbox', id: decision })}>
          {reason === null ? 'see the decision' : <Words text={reason} most={300} />}
        </a>
      </p>
    );
  return reason === null ? null : (
    <p>
      <span class="dim">reason</span> <Words text={reason} most={600} />
    </p>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  if (children === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{children}</dd>
    </div>
  );
}

function Runs({ run, model }: { readonly run: string; readonly model: string | null }) {
  return (
    <>
      <Words text={run} most={80} />
      {model === null ? null : (
        <>
          {' · '}
          <Words text={model} most={60} />
        </>
      )}
    </>
  );
}

function Started({ at }: { readonly at: string }) {
  return (
    <>
      {renderTime(at)}{' '}
      <span class="dim">
        (<Age at={at} suffix=" ago" />)
      </span>
    </>
  );
}

function Ended({ facts: { endedAt, startedAt, how } }: { readonly facts: SessionFacts }) {
  if (endedAt === null) return null;
  const span = startedAt === null ? null : new Date(endedAt).getTime() - new Date(startedAt).getTime();
  return (
    <>
      {renderTime(endedAt)}
      {how === null ? '' : ', '}
      <Words text={how} most={60} />
      {span === null ? null : <span class="dim"> after {renderSpan(span)}</span>}
    </>
  );
}

/** The time left of the claim, which shows that the supervisor is alive, since it renews the claim. */
function leaseOf(task: TaskOverview | undefined, epoch: number | undefined): ComponentChildren {
  const claim = task?.claim ?? null;
  if (claim === null || claim.epoch !== epoch || claim.expires_at === undefined) return null;
  const left = new Date(claim.expires_at).getTime() - now.value;
  return left <= 0 ? <span class="state bad">overdue by {renderSpan(-left)}</span> : `in ${renderSpan(left)}`;
}
