import type { Answer } from '../../api/answer.ts';
import { call } from '../app/hub-client.ts';
import { Action } from './action.tsx';

/** Saves a task's proof as a file, which `baton verify` and the page check without the daemon. */
export function ProofDownload({ taskId }: { readonly taskId: string }) {
  const act = async (): Promise<Answer> => {
    const answer = await call('task_proof', { task_id: taskId });
    if (answer.ok) save(`${taskId}.proof.json`, JSON.stringify(answer.result));
    return answer;
  };
  return <Action label="Download the proof" act={act} done="The proof was saved" disabled={taskId === ''} />;
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(/[^\w.-]+/g, '_');
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
