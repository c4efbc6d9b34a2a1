import type { Answer } from '../../../api/answer.ts';
import { call } from '../../app/hub-client.ts';
import { Action, CopyCommand } from '../../kit/action.tsx';
import { saveFile } from '../../kit/save-file.ts';

/** Saves a task's proof as a file, which `baton verify` checks anywhere, offline. */
export function ProofDownload({ id }: { readonly id: string }) {
  const name = `${id}.proof.json`;
  const download = async (): Promise<Answer> => {
    const answer = await call('task_proof', { task_id: id });
    if (answer.ok) saveFile(name, JSON.stringify(answer.result), 'application/json');
    return answer;
  };
  return (
    <>
      <Action label="Download the proof" act={download} done={`Saved ${name}. Check it: baton verify ${name}`} />
      <CopyCommand command={`baton ledger prove ${id} -o ${name}`} />
    </>
  );
}
