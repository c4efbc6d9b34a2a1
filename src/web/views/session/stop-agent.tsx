import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../app/hub-client.ts';
import { Action, CopyCommand } from '../../kit/action.tsx';

/** Stopping ends every process of the agent, so it takes two clicks; the reason is recorded. */
export function StopAgent({ agentId, name }: { readonly agentId: string; readonly name: string }) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (isOpen) field.current?.focus();
  }, [isOpen]);
  if (!isOpen)
    return (
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        Stop…
      </button>
    );
  const close = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    setOpen(false);
  };
  return (
    <div class="stop bar" role="group" aria-label="Stop the agent" onKeyDown={close}>
      <input
        ref={field}
        type="text"
        aria-label="Why you stop the agent"
        placeholder="Why (recorded)"
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <Action
        label="Stop the agent"
        done={`${name} is being stopped`}
        tone="danger"
        act={async () => {
          const answer = await call('agent_kill', { id: agentId, ...(reason.trim() === '' ? {} : { reason }) });
          if (answer.ok) setOpen(false);
          return answer;
        }}
      />
      <button type="button" onClick={() => setOpen(false)}>
        Keep it running
      </button>
      <CopyCommand command={`baton agent kill ${agentId.slice(0, 8)}`} />
    </div>
  );
}
