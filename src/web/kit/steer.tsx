import { useRef, useState } from 'preact/hooks';
import type { Answer } from '../../api/answer.ts';
import { fieldOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { call, useStateView } from '../app/hub-client.ts';
import { go, hrefTo } from '../app/router.ts';
import type { RunRef, SteerStep } from '../model/run/steering.ts';
import { commandOf, STEP_WORDS } from '../model/run/steer-words.ts';
import { Action, CopyCommand } from './action.tsx';
import { Show } from './loading.tsx';
import { Words } from './words.tsx';

export function TaskActions({ taskId }: { readonly taskId: string }) {
  return <Steer run={{ kind: 'task', id: taskId }} />;
}

export function PipelineActions({ pipelineId }: { readonly pipelineId: string }) {
  return <Steer run={{ kind: 'pipeline', id: pipelineId }} />;
}

export function AgentActions({ agentId }: { readonly agentId: string }) {
  return <Steer run={{ kind: 'agent', id: agentId }} />;
}

/**
 * The possible actions on a run. Each opens a field for its reason or message; only the button below the field sends
 * it.
 */
function Steer({ run }: { readonly run: RunRef }) {
  const steering = useStateView('steering', run);
  const [openKey, setOpenKey] = useState<string>();
  return (
    <Show loaded={steering} what="the actions">
      {({ steps, decisionIds }) => {
        const open = steps.find((step) => keyOf(step) === openKey);
        if (steps.length === 0 && decisionIds.length === 0 && openKey === undefined) return null;
        return (
          <div class="steer" role="group" aria-label="Actions">
            <div class="bar">
              {decisionIds.map((id) => (
                <a key={id} class="button primary" href={hrefTo({ view: 'inbox', id })}>
                  Answer the question
                </a>
              ))}
              {steps.map((step) => (
                <StepButton
                  key={keyOf(step)}
                  step={step}
                  isOpen={keyOf(step) === openKey}
                  onToggle={() => setOpenKey(keyOf(step) === openKey ? undefined : keyOf(step))}
                />
              ))}
            </div>
            {open !== undefined ? (
              <StepForm key={openKey} step={open} onClose={() => setOpenKey(undefined)} />
            ) : openKey === undefined ? null : (
              <p class="dim" role="status">
                This is no longer possible: the run has changed.
              </p>
            )}
          </div>
        );
      }}
    </Show>
  );
}

/** The key keeps a message in its field if the agent starts to wait meanwhile. */
function keyOf({ does, on }: SteerStep): string {
  return `${does === 'answer' ? 'message' : does} ${on.kind}:${on.id}`;
}

function StepButton({
  step,
  isOpen,
  onToggle,
}: {
  readonly step: SteerStep;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  if (step.does === 'attach') return <CopyCommand command={commandOf(step, '')} />;
  const { label, tone } = STEP_WORDS[step.does];
  return (
    <button type="button" class={tone ?? ''} data-step={step.does} aria-expanded={isOpen} onClick={onToggle}>
      {label}…
    </button>
  );
}

function StepForm({ step, onClose }: { readonly step: SteerStep; readonly onClose: () => void }) {
  const [text, setText] = useState('');
  // Repeating after a lost answer has no second effect.
  const key = useRef(crypto.randomUUID());
  if (step.does === 'attach') return null;
  const { about, field, isNeeded, confirm, tone } = STEP_WORDS[step.does];
  const act = async (): Promise<Answer> => {
    const answer = await send(step, text.trim(), key.current);
    if (!answer.ok) return answer;
    onClose();
    if (step.does === 'run_again') go({ view: 'work', id: `pipeline:${textOf(fieldOf(answer.result, 'id'))}` });
    return answer;
  };
  return (
    <div class="card step-form" data-form={step.does}>
      <p>
        {step.name === undefined ? null : (
          <>
            <strong>
              <Words text={step.name} most={60} />
            </strong>
            :{' '}
          </>
        )}
        {about}
      </p>
      {field === '' ? null : (
        <label>
          {field}
          <textarea
            rows={2}
            value={text}
            ref={focusAtStart}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
      )}
      <div class="bar">
        <Action
          label={confirm}
          act={act}
          done={`${confirm}: sent`}
          tone={tone ?? 'primary'}
          disabled={isNeeded && text.trim() === ''}
        />
        <button type="button" onClick={onClose}>
          Close
        </button>
        <CopyCommand command={commandOf(step, text.trim())} />
      </div>
    </div>
  );
}

/** Sets the focus once, when the field appears: later renderings must not move it from elsewhere. */
function focusAtStart(field: HTMLTextAreaElement | null): void {
  if (field === null || field.dataset['seen'] !== undefined) return;
  field.dataset['seen'] = '';
  field.focus();
}

async function send(step: SteerStep, text: string, key: string): Promise<Answer> {
  const {
    does,
    on: { kind, id },
  } = step;
  const options = { key };
  switch (does) {
    case 'message':
    case 'answer':
      return call('agent_send', { id, text }, options);
    case 'note':
      return call('task_note', { task_id: id, text }, options);
    case 'stop':
      return call('agent_kill', { id, reason: text }, options);
    case 'resume':
      return call('pipeline_resume', text === '' ? { id } : { id, message: text }, options);
    case 'retry':
    case 'run_again':
      return call('pipeline_retry', { id }, options);
    case 'cancel':
      return kind === 'task'
        ? call('task_cancel', { task_id: id, reason: text }, options)
        : call('pipeline_cancel', { id, reason: text }, options);
    case 'unblock':
      return call('task_unblock', { task_id: id, reason: text }, options);
    case 'reinstate':
      return call('task_reinstate', { task_id: id, reason: text }, options);
    case 'attach':
      // Attaching needs a terminal, so the button copies the command.
      return { ok: false, error: { code: 'usage', message: 'attach from a terminal', hint: commandOf(step, '') } };
  }
}
