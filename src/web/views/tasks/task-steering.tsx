import { useState } from 'preact/hooks';
import type { TaskOverview } from '../../../api/operations/task-view.ts';
import { call } from '../../app/hub-client.ts';
import { Action, CopyCommand } from '../../kit/action.tsx';

type Status = TaskOverview['status'];
type Step = 'cancel' | 'unblock' | 'reinstate';

const LABELS: Readonly<Record<Step, string>> = { cancel: 'Cancel', unblock: 'Unblock', reinstate: 'Reinstate' };

/** What an operator can do with a task that nobody needs to hold. Each needs a reason, which is recorded. */
export function TaskSteering({ id, status }: { readonly id: string; readonly status: Status }) {
  const [reason, setReason] = useState('');
  const steps = stepsFor(status);
  const isGiven = reason.trim() !== '';
  return (
    <section aria-label="Actions" class="steering">
      <label class="reason-field">
        <span class="sr">Reason</span>
        <input
          type="text"
          placeholder="Reason: it is recorded"
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </label>
      {steps.map((step) => (
        <Action
          key={step}
          label={LABELS[step]}
          disabled={!isGiven}
          title={isGiven ? '' : 'Give a reason first'}
          {...(step === 'cancel' ? { tone: 'danger' } : {})}
          act={async () => {
            const answer = await call(`task_${step}`, { task_id: id, reason });
            if (answer.ok) setReason('');
            return answer;
          }}
        />
      ))}
      {steps.map((step) => (
        <CopyCommand key={step} command={`baton task ${step} ${id} --reason "${isGiven ? quoted(reason) : '…'}"`} />
      ))}
    </section>
  );
}

function stepsFor(status: Status): readonly Step[] {
  if (status === 'blocked') return ['unblock', 'cancel'];
  return status === 'done' || status === 'cancelled' ? ['reinstate'] : ['cancel'];
}

/** Inside of double quotes in a shell. */
function quoted(text: string): string {
  return text.replaceAll(/["\\$`]/g, String.raw`\$&`);
}
