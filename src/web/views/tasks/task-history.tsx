import type { SessionView, TaskOverview } from '../../../api/operations/task-view.ts';
import { hrefTo } from '../../app/router.ts';
import { renderAmount, renderCount, renderMoney } from '../../kit/numbers.ts';
import { StateMark } from '../../kit/state-mark.tsx';
import { Age, now, renderSpan } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';

interface ViewOf {
  readonly view: TaskOverview;
}

/** A task's history: sessions, questions, findings, checks, the record. */
export function TaskHistory({ view }: ViewOf) {
  return (
    <>
      <Decisions view={view} />
      <Sessions view={view} />
      <Findings view={view} />
      <Checks view={view} />
      <LatestRecord view={view} />
    </>
  );
}

function Sessions({ view: { sessions } }: ViewOf) {
  if (sessions.length === 0) return null;
  return (
    <section class="part">
      <h3>
        Sessions <span class="number">{renderCount(sessions.length)}</span>
      </h3>
      <div class="wide" role="region" aria-label="Sessions" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>Session</th>
              <th>State</th>
              <th>Model</th>
              <th class="right">Began</th>
              <th class="right">Took</th>
              <th class="right">Tokens</th>
              <th class="right">Cost</th>
            </tr>
          </thead>
          <tbody>
            {sessions.toReversed().map((session) => (
              <SessionLine key={`${session.epoch} ${session.session_id} ${session.agent_id}`} session={session} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function SessionLine({ session }: { readonly session: SessionView }) {
  const { agent_id: agentId, agent, holder, role, status, how, model, started_at: began, ended_at: ended } = session;
  const name = <Words text={agent ?? holder} most={60} />;
  return (
    <tr data-agent={agentId ?? undefined}>
      <td>
        {agentId === null ? name : <a href={hrefTo({ view: 'session', id: agentId })}>{name}</a>}
        {role === null || role === (agent ?? holder) ? null : (
          <span class="dim">
            {' '}
            <Words text={role} most={40} />
          </span>
        )}
      </td>
      <td>
        <StateMark state={status ?? how ?? 'running'} />
        {agentId === null ? <span class="dim"> by hand</span> : null}
      </td>
      <td class="dim">
        <Words text={model} most={60} />
      </td>
      <td class="right">
        <Age at={began} suffix=" ago" />
      </td>
      <td class="right number">
        {began === null ? '' : renderSpan((ended === null ? now.value : Date.parse(ended)) - Date.parse(began))}
      </td>
      <td class="right number">{session.tokens === null ? '–' : renderAmount(session.tokens)}</td>
      <td class="right number">{renderMoney(session.cost_millicents)}</td>
    </tr>
  );
}

function Decisions({ view: { decisions } }: ViewOf) {
  if (decisions.length === 0) return null;
  return (
    <section class="part">
      <h3>
        Decisions <span class="number">{renderCount(decisions.length)}</span>
      </h3>
      <ul>
        {decisions.toReversed().map(({ id, title, status, opened_at: opened, result }) => (
          <li key={id}>
            <a class="task-link" href={hrefTo({ view: 'inbox', id })} data-decision={id}>
              <span class="mark">
                <StateMark state={status} />
              </span>
              <span class="one-line">
                <Words text={title} most={300} />
              </span>
              <span class="end dim number">
                {result?.by === undefined ? null : (
                  <>
                    <Words text={result.by} most={40} />
                    {' · '}
                  </>
                )}
                <Age at={result?.at ?? opened} suffix=" ago" />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Findings({ view: { findings } }: ViewOf) {
  if (findings.length === 0) return null;
  return (
    <section class="part">
      <h3>
        Findings <span class="number">{renderCount(findings.length)}</span>
      </h3>
      <ul class="points">
        {findings.map(({ text, rounds }) => (
          <li key={text}>
            <Words text={text} most={2000} />
            {rounds > 1 ? <span class="dim"> found {rounds} rounds in a row</span> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Checks({ view: { checks } }: ViewOf) {
  if (checks === null || checks.checks.length === 0) return null;
  return (
    <section class="part">
      <h3>
        Checks of <code>{checks.head.slice(0, 12)}</code>
      </h3>
      <ul>
        {checks.checks.map(({ name, outcome, exit_code: code, output }) => (
          <li key={name}>
            <p class="bar">
              <StateMark state={outcome} /> <Words text={name} most={200} />
              {code === null || code === 0 ? null : <span class="dim">exit code {code}</span>}
            </p>
            {output === null ? null : (
              <pre class="card">
                <Words text={output} />
              </pre>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function LatestRecord({ view: { latest_record: record, endings } }: ViewOf) {
  if (record === null && endings.length === 0) return null;
  return (
    <section class="part">
      <h3>Record</h3>
      {record === null ? (
        <p class="dim">No session has recorded what it did.</p>
      ) : (
        <>
          <p class="text">
            <Words text={record.summary} most={5000} />
          </p>
          <p class="dim">
            <code>{record.commit_sha.slice(0, 12)}</code> on <Words text={record.branch} most={200} />,{' '}
            {renderCount(record.files_changed.length)} files, tests:{' '}
            <Words text={record.tests_run.length === 0 ? 'none' : record.tests_run.join(', ')} most={1000} />
          </p>
        </>
      )}
      {endings.length === 0 ? null : (
        <ul class="endings">
          {endings.toReversed().map(({ epoch, holder, how, reason, at }) => (
            <li key={`${epoch} ${at}`} class="bar">
              <span class="dim number">epoch {epoch}</span>
              <StateMark state={how} />
              <Words text={holder} most={60} />
              {reason === null ? null : (
                <span class="dim">
                  <Words text={reason} most={600} />
                </span>
              )}
              <span class="dim">
                <Age at={at} suffix=" ago" />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
