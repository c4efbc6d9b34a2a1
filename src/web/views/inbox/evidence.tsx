import type { ComponentChildren } from 'preact';
import type { DecisionEvidence } from '../../../api/decision-evidence.ts';
import type { DecisionView } from '../../../api/run-views.ts';
import { hrefTo } from '../../app/router.ts';
import { CopyCommand } from '../../kit/action.tsx';
import { Changes } from '../../kit/changes.tsx';
import { Claims } from '../../kit/claims.tsx';
import { LongText } from '../../kit/long-text.tsx';
import { renderAmount, renderCount, renderMoney } from '../../kit/numbers.ts';
import { Stages } from '../../kit/stages.tsx';
import { StateMark } from '../../kit/state-mark.tsx';
import { Age, renderSpan } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { answerCommand } from '../../model/inbox/answer-rules.ts';
import { type EvidencePart, orderEvidence } from '../../model/inbox/evidence-order.ts';
import { leaveOutRepeats } from '../../model/inbox/evidence-repeats.ts';
import { Budget } from './budget.tsx';

interface EvidenceProps {
  readonly decision: DecisionView;
  readonly evidence: DecisionEvidence;
}

/** The evidence for a decision, the most useful part first. */
export function Evidence({ decision, evidence: whole }: EvidenceProps) {
  const evidence = leaveOutRepeats(whole);
  const { stage, stages, commands } = evidence;
  return (
    <div class="evidence">
      {stage === null && stages.length === 0 ? null : (
        <Part title="Current state">
          {stage === null ? null : (
            <p>
              <Words text={stage} most={600} />
            </p>
          )}
          {stages.length === 0 ? null : <Stages stages={stages} />}
        </Part>
      )}
      {orderEvidence(decision.source).map((part) => (
        <div key={part} class="unboxed">
          {PARTS[part]({ decision, evidence })}
        </div>
      ))}
      <Part title="In a terminal">
        <div class="commands">
          {answerCommands(decision).map((command) => (
            <CopyCommand key={command} command={command} />
          ))}
          {commands.map((command) => (
            <CopyCommand key={command} command={command} />
          ))}
        </div>
      </Part>
    </div>
  );
}

function answerCommands({ id, status, options, answer }: DecisionView): readonly string[] {
  if (status !== 'open') return [];
  if (answer !== null) return [`baton decision undo ${id.slice(0, 8)}`];
  return options.map((option) => answerCommand(id, option, { message: '', agent: '' }));
}

const PARTS: Readonly<Record<EvidencePart, (props: EvidenceProps) => ComponentChildren>> = {
  budget: ({ evidence: { budget } }) =>
    budget === null ? null : (
      <Part title="Budget">
        <Budget budget={budget} />
      </Part>
    ),
  mission: ({ evidence: { mission } }) =>
    mission === null ? null : (
      <Part title="Mission">
        <LongText text={mission} />
      </Part>
    ),
  checks: ({ evidence: { checks } }) => (checks.length === 0 ? null : <Checks checks={checks} />),
  since: ({ evidence: { since_passed: since } }) =>
    since === null || since.total.files === 0 ? null : (
      <Part title="Changed since all checks passed" note={renderTotal(since.total)}>
        <ChangedFiles files={since.files} />
      </Part>
    ),
  findings: ({ evidence: { findings } }) => (findings.length === 0 ? null : <Findings findings={findings} />),
  items: ({ evidence: { items } }) => <Items items={items} />,
  claims: ({ evidence: { claims, claims_by: by } }) =>
    claims.length === 0 ? null : (
      <Part title="Reports compared with measurements" note={by === null ? null : <Words text={by} most={80} />}>
        <Claims claims={claims} />
      </Part>
    ),
  changes: ({ decision: { task_id }, evidence: { diff } }) =>
    task_id === null || diff === null || diff.total.files === 0 ? null : (
      <Part title="Changes" note={renderTotal(diff.total)}>
        <Changes taskId={task_id} />
      </Part>
    ),
  // A text that the question quotes is not shown again.
  output: ({ decision: { context, agent_id }, evidence: { output } }) =>
    output === null || output.trim() === '' || context.includes(output.trim()) ? null : (
      <Part
        title="Last output"
        note={agent_id === null ? null : <a href={hrefTo({ view: 'session', id: agent_id })}>whole log</a>}
      >
        <LongText text={output} kind="output" />
      </Part>
    ),
  goal: ({ evidence: { goal } }) =>
    goal === null ? null : (
      <Part title="Goal">
        <LongText text={goal} />
      </Part>
    ),
  waiting: ({ evidence: { waiting } }) => (waiting.length === 0 ? null : <Waiting waiting={waiting} />),
  cost: ({ evidence: { cost } }) => (cost === null ? null : <Cost cost={cost} />),
};

function Part({
  title,
  note = null,
  children,
}: {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="evidence-part">
      <h3>
        {title} {note === null ? null : <span class="note-beside number">{note}</span>}
      </h3>
      {children}
    </section>
  );
}

function renderTotal({ files, additions, deletions }: NonNullable<DecisionEvidence['diff']>['total']): string {
  return `${renderCount(files)} ${files === 1 ? 'file' : 'files'}, +${renderCount(additions)} −${renderCount(deletions)}`;
}

const MOST_FILES = 50;

function ChangedFiles({ files }: Pick<NonNullable<DecisionEvidence['diff']>, 'files'>) {
  return (
    <ul>
      {files.slice(0, MOST_FILES).map(({ path, additions, deletions }) => (
        <li key={path}>
          <code>
            <Words text={path} most={300} />
          </code>{' '}
          <span class="dim number">
            +{renderCount(additions)} −{renderCount(deletions)}
          </span>
        </li>
      ))}
      {files.length > MOST_FILES ? <li class="dim">and {renderCount(files.length - MOST_FILES)} more</li> : null}
    </ul>
  );
}

function Findings({ findings }: Pick<DecisionEvidence, 'findings'>) {
  return (
    <Part title="Last findings">
      <ul class="marked">
        {findings.map(({ text, rounds }) => (
          <li key={text}>
            <Words text={text} most={2000} />
            {rounds > 1 ? <span class="state wait">◆ found {rounds} times in a row</span> : null}
          </li>
        ))}
      </ul>
    </Part>
  );
}

const PLACES = { agent: 'session', pipeline: 'work', task: 'tasks' } as const;

/** The runs that continue only when the decision is answered. */
function Waiting({ waiting }: Pick<DecisionEvidence, 'waiting'>) {
  return (
    <Part title="Waits for the answer">
      <ul>
        {waiting.map(({ kind, id, name }) => (
          <li key={`${kind}:${id}`}>
            <span class="dim">{kind}</span>{' '}
            <a href={hrefTo({ view: PLACES[kind], id: kind === 'pipeline' ? `pipeline:${id}` : id })}>
              <Words text={name} most={120} />
            </a>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** The checks, failed ones first, with the end of their output. */
function Checks({ checks }: { readonly checks: DecisionEvidence['checks'] }) {
  const ordered = checks.toSorted((a, b) => Number(isFailed(b)) - Number(isFailed(a)));
  return (
    <Part title="Checks">
      <ul class="checks">
        {ordered.map(({ name, outcome, exit_code, output }) => (
          <li key={name}>
            <p class="bar">
              <StateMark state={outcome} />
              <Words text={name} most={80} />
              {exit_code === null || exit_code === 0 ? null : <span class="dim number">exit code {exit_code}</span>}
            </p>
            {output === null || output.trim() === '' ? null : <LongText text={output} kind="output" />}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function isFailed({ outcome }: DecisionEvidence['checks'][number]): boolean {
  return outcome !== 'passed' && outcome !== 'pending';
}

/** Reports about the task, in their authors' words. */
function Items({ items }: { readonly items: DecisionEvidence['items'] }) {
  const groups = [...Map.groupBy(items, ({ heading }) => heading)];
  return (
    <>
      {groups.map(([heading, those]) => (
        <Part key={heading} title={heading}>
          {those.map(({ section, title, author, entry, at, text }) => (
            <article key={entry} class="said">
              <p>
                <strong>
                  <Words text={title} most={300} />
                </strong>{' '}
                <span class="dim">
                  <Words text={author} most={80} /> · <Age at={at} suffix=" ago" /> ·{' '}
                  <a class="number" href={hrefTo({ view: 'ledger', id: String(entry) })}>
                    #{renderCount(entry)}
                  </a>
                </span>
              </p>
              {text === '' ? null : <LongText text={text} kind={section === 'check' ? 'output' : 'prose'} />}
            </article>
          ))}
        </Part>
      ))}
    </>
  );
}

function Cost({ cost }: { readonly cost: NonNullable<DecisionEvidence['cost']> }) {
  const { tokens, cost_millicents, unpriced_tokens, work_ms } = cost;
  if (tokens === 0 && work_ms === 0) return null;
  return (
    <Part title="Cost so far">
      <p class="number">
        {renderMoney(cost_millicents)} · {renderAmount(tokens)} tokens · {renderSpan(work_ms)} of work
        {unpriced_tokens === 0 ? null : ` · ${renderAmount(unpriced_tokens)} tokens without a known price`}
      </p>
    </Part>
  );
}
