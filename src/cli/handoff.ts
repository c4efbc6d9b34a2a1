import { operationCommand } from './operation-command.ts';
import { printable } from './text.ts';
import { fieldsIn, listIn, textIn } from './run/read-fields.ts';
import { renderTable } from './table.ts';
import { shortId } from './run/views.ts';

export const handoffListCommand = operationCommand({
  name: 'handoff list',
  summary: 'List the handoffs, oldest first',
  examples: ['baton handoff list', 'baton handoff list W-00001'],
  args: [{ name: 'TASK', about: 'Only those of this task', optional: true }],
  operation: 'handoff_list',
  input: ({ args: [task_id] }) => ({ value: task_id === undefined ? {} : { task_id } }),
  show: (result) => {
    const rows = listIn(fieldsIn(result)['handoffs']).map((each) => [
      shortId(textIn(each['handoff_id'])),
      textIn(each['task_id']),
      textIn(each['status']),
      `${textIn(each['from'])} → ${each['to'] === null ? 'workflow-complete' : textIn(each['to'])}`,
      textIn(each['reason'] ?? ''),
    ]);
    return rows.length === 0
      ? 'No handoffs.\n'
      : renderTable([['ID', 'TASK', 'STATUS', 'FROM → TO', 'REASON'], ...rows]);
  },
});

export const handoffShowCommand = operationCommand({
  name: 'handoff show',
  summary: 'Show one handoff as it was sent',
  examples: ['baton handoff show 5d0e7b41'],
  args: [{ name: 'ID', about: 'Of the handoff, or the beginning of it' }],
  operation: 'handoff_show',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: (result) => {
    const { from, to, status, reason, xml } = fieldsIn(result);
    const because = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
    const head = `${textIn(from)} → ${to === null ? 'workflow-complete' : textIn(to)}, ${textIn(status)}${because}`;
    const lines = [head, '', ...textIn(xml).split('\n')];
    return lines.map((line) => `${printable(line)}\n`).join('');
  },
});
