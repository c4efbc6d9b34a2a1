import type { Answer } from '../../api/answer.ts';
import { renderTaskProof, type TaskProof } from '../../ledger/verify/proof-text.ts';
import { call } from '../app/hub-client.ts';
import { Action } from './action.tsx';
import { saveFile } from './save-file.ts';

/** Saves a task's proof as a file, which `baton verify` and the page check without the daemon. */
export function ProofDownload({
  taskId,
  done = 'The proof was saved',
}: {
  readonly taskId: string;
  readonly done?: string;
}) {
  const act = async (): Promise<Answer> => {
    const answer = await call('task_proof', { task_id: taskId });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `baton verify` checks the file
    if (answer.ok) saveFile(`${taskId}.proof.json`, renderTaskProof(answer.result as TaskProof), 'application/json');
    return answer;
  };
  return <Action label="Download the proof" act={act} done={done} disabled={taskId === ''} />;
}
