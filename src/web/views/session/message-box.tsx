import { useMemo, useRef, useState } from 'preact/hooks';
import type { AgentDetails } from '../../../api/operations/runs.ts';
import { call } from '../../app/hub-client.ts';
import { Action, CopyCommand } from '../../kit/action.tsx';

/** A message to the agent in its conversation. Control and Enter sends it. */
export function MessageBox({ agent: { id, name, status } }: { readonly agent: AgentDetails }) {
  const [text, setText] = useState('');
  const box = useRef<HTMLDivElement>(null);
  // Repeating the same message has no second effect.
  const key = useMemo(() => crypto.randomUUID(), [text]);
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    const button = box.current?.querySelector('button.primary');
    if (button instanceof HTMLElement) button.click();
  };
  return (
    <div class="message-box" ref={box} onKeyDown={press}>
      <textarea
        rows={2}
        aria-label={`Message to ${name}`}
        placeholder={
          status === 'escalated'
            ? 'Answer: the agent reads it and resumes'
            : 'Message: the agent reads it in its conversation'
        }
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div class="send">
        <Action
          label="Send"
          done={`Sent to ${name}`}
          tone="primary"
          disabled={text.trim() === ''}
          act={async () => {
            const answer = await call('agent_send', { id, text }, { key });
            if (answer.ok) setText('');
            return answer;
          }}
        />
        <kbd>Ctrl Enter</kbd>
        <CopyCommand command={`baton agent send ${id.slice(0, 8)} TEXT`} />
      </div>
    </div>
  );
}
