import { operationCommand } from './operation-command.ts';
import { printable } from './text.ts';
import { readDocumentArgument } from './operation-input.ts';
import { printableFields } from './fields.ts';
import { type Fields, fieldsIn, listIn, textIn } from './run/read-fields.ts';

export const thoughtRecordCommand = operationCommand({
  name: 'thought record',
  summary: 'Record what was done; no task is completed without a record',
  examples: ['baton thought record record.json', 'cat record.yaml | baton thought record -'],
  args: [{ name: 'FILE|-', about: 'The thought record, JSON or YAML' }],
  options: [{ name: 'epoch', value: 'N', about: 'Operators only: record for the holder of this claim' }],
  operation: 'thought_record',
  input: async (given, io) => {
    const record = await readDocumentArgument(given.args[0] ?? '-', 'thought', io);
    if (!('value' in record)) return record;
    const epoch = given.options.get('epoch');
    return { value: { ...record.value, ...(epoch === undefined ? {} : { epoch: Number(epoch) }) } };
  },
  show: (result) => `Recorded ${printableFields(result)['record_id']} for ${printableFields(result)['task_id']}.\n`,
});

export const thoughtListCommand = operationCommand({
  name: 'thought list',
  summary: 'List the thought records of a task, newest first',
  examples: ['baton thought list P0.1.1'],
  args: [{ name: 'TASK', about: 'The task' }],
  operation: 'thought_list',
  input: ({ args: [task_id] }) => ({ value: { task_id } }),
  show: (result) => {
    const records = listIn(fieldsIn(result)['records']);
    if (records.length === 0) return 'No records.\n';
    return records.map((record) => `${printable(describeThought(record))}\n`).join('');
  },
});

/** Which entry has it, and the commit it speaks of. */
function describeThought({ id, seq, commitSha, reinstates }: Fields): string {
  const at = `${textIn(id).slice(0, 8)}  ${textIn(commitSha).slice(0, 12)}  baton ledger show ${Number(seq)}`;
  return reinstates === true ? `${at}  reinstates the task` : at;
}
