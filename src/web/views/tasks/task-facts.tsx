import type { ComponentChildren } from 'preact';
import type { TaskOverview } from '../../../api/operations/task-view.ts';
import { UNPROVEN_WORDS } from '../../../protocol/handoff/judge.ts';
import { CopyCommand } from '../../kit/action.tsx';
import { renderAmount, renderMoney } from '../../kit/numbers.ts';
import { Age, now, renderAge, renderSpan } from '../../kit/time.tsx';
import { TaskActions } from '../../kit/steer.tsx';
import { Words } from '../../kit/words.tsx';
import { ProofDownload } from '../../kit/proof-download.tsx';
import { whyNotClaimable } from '../../model/tasks/why-not-claimable.ts';

interface ViewOf {
  readonly view: TaskOverview;
}

export function TaskFacts({ view }: ViewOf) {
  return (
    <>
      <TaskActions taskId={view.id} />
      <section aria-label="Facts" class="part">
        <dl class="facts">
          <Fact name="Now">
            {view.activity} for <Age at={view.since} />
          </Fact>
          <Fact name="Phase">
            {view.phase}
            {view.next_role === null ? null : (
              <>
                {', next role '}
                <Words text={view.next_role} most={60} />
              </>
            )}
          </Fact>
          <Fact name="Claim">
            <Claim view={view} />
          </Fact>
          <Fact name="Claimable">
            <Claimable view={view} />
          </Fact>
          {view.priority === 0 ? null : <Fact name="Priority">{view.priority}</Fact>}
          {view.progress === null ? null : (
            <Fact name="Progress">
              {view.progress} %{view.notes === null ? '' : ': '}
              <Words text={view.notes} most={1000} />
            </Fact>
          )}
          <Work view={view} />
          <Cost view={view} />
        </dl>
        <div class="bar">
          <CopyCommand command={`baton task show ${view.id}`} />
          {view.diff_command === null ? null : <CopyCommand command={view.diff_command} />}
          {view.log_command === null ? null : <CopyCommand command={view.log_command} />}
          <ProofDownload
            taskId={view.id}
            done={`Saved ${view.id}.proof.json. Check it: baton verify ${view.id}.proof.json`}
          />
          <CopyCommand command={`baton ledger prove ${view.id} -o ${view.id}.proof.json`} />
        </div>
      </section>
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Claim({ view: { claim } }: ViewOf) {
  if (claim === null) return <span class="dim">not claimed</span>;
  const { holder, role, host, epoch, since, expires_at: expires } = claim;
  return (
    <>
      <Words text={holder} most={80} />
      {role === null ? null : (
        <>
          {' as '}
          <Words text={role} most={60} />
        </>
      )}
      {host === undefined ? null : (
        <>
          {' on '}
          <Words text={host} most={60} />
        </>
      )}
      {' for '}
      <Age at={since} />
      <span class="dim number">
        {' '}
        · epoch {epoch}
        {expires === undefined ? '' : ` · ${describeExpiry(Date.parse(expires) - now.value)}`}
      </span>
    </>
  );
}

function describeExpiry(ms: number): string {
  return ms > 0 ? `expires in ${renderAge(ms)} unless renewed` : 'its lease has expired';
}

function Claimable({ view }: ViewOf) {
  const why = whyNotClaimable(view);
  if (why === undefined) return <span class="state good">✓ yes</span>;
  return (
    <>
      no: <Words text={why} most={1000} />
    </>
  );
}

function Work({ view }: ViewOf) {
  const { mode, rounds, reviews, branch, head, merge_sha: merged, pull_request: pull, github_issue: issue } = view;
  return (
    <>
      {mode === null ? null : (
        <Fact name="Workflow">
          {mode}, {reviews} {reviews === 1 ? 'review' : 'reviews'}, {rounds} {rounds === 1 ? 'round' : 'rounds'} of
          fixes
        </Fact>
      )}
      {branch === null ? null : (
        <Fact name="Branch">
          <code>
            <Words text={branch} most={200} />
          </code>
          {head === null ? null : <code class="dim"> {head.slice(0, 12)}</code>}
        </Fact>
      )}
      {merged === null ? null : (
        <Fact name="Merged">
          <code>{merged.slice(0, 12)}</code>
        </Fact>
      )}
      {pull?.url === undefined || pull.url === null ? null : (
        <Fact name="Pull request">
          <Address url={pull.url} />
          {pull.is_closed ? ' (closed)' : ''}
        </Fact>
      )}
      {issue === null ? null : (
        <Fact name="Issue">
          <Address url={issue} />
        </Fact>
      )}
      {view.protected_paths.length === 0 ? null : (
        <Fact name="Protected paths">
          <Words text={view.protected_paths.join(', ')} most={2000} />
        </Fact>
      )}
      {view.approval === null ? null : (
        <Fact name="Approved">
          {view.approval.head === null ? null : <code class="dim">{view.approval.head.slice(0, 12)} </code>}
          by <Words text={view.approval.by} most={80} />
          {view.approval.unproven === null ? '' : `, ${UNPROVEN_WORDS[view.approval.unproven]}`}
        </Fact>
      )}
      {view.self_approval === null ? null : (
        <Fact name="Self-approved">
          by <Words text={view.self_approval.by} most={80} />: <Words text={view.self_approval.reason} most={1000} />
        </Fact>
      )}
    </>
  );
}

/** An address in the ledger may be any text: only one that a browser opens safely becomes a link. */
function Address({ url }: { readonly url: string }) {
  if (!url.startsWith('https://')) return <Words text={url} most={400} />;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      <Words text={url} most={400} />
    </a>
  );
}

function Cost({ view: { cost } }: ViewOf) {
  const tokens = cost.input_tokens + cost.output_tokens + cost.cached_tokens;
  if (tokens === 0 && cost.work_ms === 0) return null;
  return (
    <Fact name="Cost">
      <span class="number">
        {renderMoney(cost.cost_millicents)}
        {cost.unpriced_tokens > 0 ? '+' : ''} · {renderAmount(tokens)} tokens · {renderSpan(cost.work_ms)} of work
        {cost.wait_ms > 0 ? ` · ${renderSpan(cost.wait_ms)} of waiting` : ''}
      </span>
      {cost.unpriced_tokens > 0 ? (
        <span class="dim"> {renderAmount(cost.unpriced_tokens)} tokens have no known price</span>
      ) : null}
    </Fact>
  );
}
